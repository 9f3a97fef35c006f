/** The account whose keys a request concerns: that of the caller, or a service account that the caller manages. */
import { isAccountId } from '../../foundation/account-id.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Caller } from '../../http/route.ts';
import { assertMayActFor, notManaged } from '../service-accounts/acting.ts';

interface Request {
  readonly principal: Caller;
  /** From the path. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/** @returns the id of the account @throws DomainError `account_not_found` unless the caller may act for the account */
export type OwnerOf = (request: Request) => Promise<string>;

export const ownAccount: OwnerOf = async ({ principal }) => principal.accountId;

/** The transaction of a change checks it again. */
export const managedAccount =
  (db: Db): OwnerOf =>
  async ({ principal, params: { accountId = '' } = {} }) => {
    // An account does not manage itself. In particular, a management key cannot change itself.
    if (!isAccountId(accountId) || accountId === principal.accountId) throw notManaged();
    await assertMayActFor(db, principal, accountId);
    return accountId;
  };
