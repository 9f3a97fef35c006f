/** Whether a principal may act for an account: its own, or a service account that it manages. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { PortalPrincipal, Principal } from '../../foundation/principal.ts';
import { isAccountId } from '../../foundation/account-id.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import {
  isManagedBy,
  lockAccountTx,
  lockCallingKeyTx,
  lockKeyOfPortalTx,
  lockPersonTx,
  lockPortalTx,
} from './acting-store.ts';

/**
 * First in the transaction of every change that a principal makes to an account or its keys: the credential was verified
 * when the request began, and its body may have taken seconds to arrive. A principal that acts as an administrator may
 * change any account, so a request of a manager must not set `actsAs`.
 * @throws DomainError `invalid_access_token` when the session of an account has ended, `invalid_management_key` when a
 *   management key is no longer valid, `portal_session_ended` when a portal session has ended, `account_not_found` when the
 *   principal does not manage the account; never for other principals
 */
export async function assertMayActForTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  now: number,
): Promise<void> {
  if (principal.kind === 'portal') return assertPortalSessionTx(tx, principal, accountId, now);
  const managerId = managerOf(principal, accountId);
  const credential = async (): Promise<void> => assertCredentialValidTx(tx, principal, now);
  if (managerId === undefined) return credential();
  const isFirst = principal.kind === 'account' || managerId < accountId;
  const ordered = lockInOrder(tx, { credential, managerId, accountId, isFirst });
  const isManager = isManagedBy(tx, accountId, managerId);
  await allInOrder([...ordered, isManager.then(assertManager)]);
}

/**
 * First in the transaction of every change of a portal session: the session, its management key, that the account of the key
 * manages the service account, and that no account is disabled.
 * @throws DomainError `portal_session_ended`; `account_not_found` for another account than that of the session
 */
export async function assertPortalSessionTx(
  tx: Transaction,
  principal: PortalPrincipal,
  accountId: string,
  now: number,
): Promise<void> {
  if (principal.serviceAccountId !== accountId) throw notManaged();
  const managerId = principal.accountId;
  const assertTrue = (isValid: boolean): void => {
    if (!isValid) throw new DomainError('portal_session_ended');
  };
  const credential = async (): Promise<void> => assertTrue(await lockKeyOfPortalTx(tx, principal, now));
  const ordered = lockInOrder(tx, { credential, managerId, accountId, isFirst: managerId < accountId });
  const isManager = isManagedBy(tx, accountId, managerId).then(assertTrue);
  await allInOrder([...ordered, isManager, lockPortalTx(tx, principal, now).then(assertTrue)]);
}

interface Locks {
  /** Locks the credential of the principal, and the account that owns it. */
  readonly credential: () => Promise<void>;
  readonly managerId: string;
  readonly accountId: string;
  /** Whether the manager is locked before the account. */
  readonly isFirst: boolean;
}

/** Service accounts may manage each other. All are locked in one order, against deadlocks: persons first, then by id. */
function lockInOrder(tx: Transaction, { credential, managerId, accountId, isFirst }: Locks): Promise<void>[] {
  const locks = [credential, async (): Promise<void> => lockAccountTx(tx, accountId)];
  const ifPerson = isFirst ? [] : [lockPersonTx(tx, managerId)];
  return [...ifPerson, ...(isFirst ? locks : locks.toReversed()).map((lock) => lock())];
}

/**
 * The same check by a read, for requests that change nothing, and to reject other requests early. The caller has verified
 * the credential.
 * @throws DomainError `account_not_found`
 */
export async function assertMayActFor(db: Db, principal: Principal, accountId: string): Promise<void> {
  const managerId = managerOf(principal, accountId);
  if (managerId === undefined) return;
  // Other texts may contain characters that PostgreSQL rejects.
  const isManager = isAccountId(accountId) && (await isManagedBy(db, accountId, managerId));
  // The manager may have been removed by a commit that has not reached the standby yet.
  if (!isManager) await db.confirm();
  assertManager(isManager);
}

/**
 * Checks the credential of a principal, and locks it until the end of the transaction.
 * @throws DomainError `invalid_access_token`, `invalid_management_key`, `invalid_service_key` for a canary credential,
 *   `portal_session_ended`; never for other principals
 */
export async function assertCredentialValidTx(tx: Transaction, principal: Principal, now: number): Promise<void> {
  if (principal.kind === 'portal') return assertPortalSessionTx(tx, principal, principal.serviceAccountId, now);
  if (principal.kind !== 'key' && principal.kind !== 'canary') return assertSessionValidTx(tx, { principal, now });
  if (await lockCallingKeyTx(tx, principal, now)) return;
  throw new DomainError(principal.kind === 'key' ? 'invalid_management_key' : 'invalid_service_key');
}

/** @returns the account that must manage the other one; undefined if the principal needs no manager */
function managerOf(principal: Principal, accountId: string): string | undefined {
  if (principal.kind === 'key') return principal.accountId;
  // A canary credential manages no other account.
  if (principal.kind === 'canary') {
    if (principal.accountId !== accountId) throw notManaged();
    return undefined;
  }
  if (principal.kind === 'portal') {
    // The read that authenticated the principal has shown that its account manages this one.
    if (principal.serviceAccountId !== accountId) throw notManaged();
    return undefined;
  }
  if (principal.kind !== 'account' || principal.actsAs === 'administrator') return undefined;
  return principal.accountId === accountId ? undefined : principal.accountId;
}

/** @throws DomainError `account_not_found` */
function assertManager(isManager: boolean): void {
  if (!isManager) throw notManaged();
}

/** The same for an id that does not exist, so that ids cannot be tested. */
export const notManaged = (): DomainError =>
  new DomainError('account_not_found', { detail: 'You manage no service account with this id.' });
