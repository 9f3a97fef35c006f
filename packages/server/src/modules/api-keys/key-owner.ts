/**
 * The account whose keys a request concerns: that of the caller, a service account that the caller manages, or the service account of a
 * portal session.
 */
import { isAccountId } from '../../foundation/account-id.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { PortalPrincipal } from '../../foundation/principal.ts';
import type { Caller } from '../../http/route.ts';
import { assertMayActFor, notManaged } from '../service-accounts/acting.ts';
import { findKeyDetails } from './change-store.ts';
import { keyIdOf } from './key-request.ts';
import { hasReservedScope, splitScopes } from './scopes.ts';

interface Request<P = Caller> {
  readonly principal: P;
  /** From the path. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/** @returns the id of the account @throws DomainError `account_not_found` unless the caller may act for the account */
export type OwnerOf<P = Caller> = (request: Request<P>) => Promise<string>;

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

/**
 * For a portal session, the keys of other accounts and those with reserved scopes do not exist. The transaction of a change checks it
 * again.
 * @throws DomainError `key_not_found` for the id of such a key in the path
 */
export const accountOfPortal =
  (db: Db): OwnerOf<PortalPrincipal> =>
  async ({ principal: { serviceAccountId }, params }) => {
    if (params?.['id'] === undefined) return serviceAccountId;
    const row = await findKeyDetails(db, keyIdOf(params['id']));
    if (row?.accountId === serviceAccountId && !hasReservedScope(splitScopes(row.scopes))) return serviceAccountId;
    // The key may have got other scopes by a commit that has not reached the standby yet.
    await db.confirm();
    throw new DomainError('key_not_found');
  };
