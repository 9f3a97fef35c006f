/**
 * Revokes the credentials that an attacker may have created in an unverified account, and deletes API keys together with a
 * password change even if the database connection breaks at the commit.
 */
import { recordAccountEventTx } from '../audit/audit.ts';
import { deleteAccountKeysTx, finishDeletingKeys } from '../api-keys/store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { deleteCodesTx } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import { removeSecondFactorTx } from '../second-factors/store.ts';
import type { SelfServiceOptions } from './options.ts';

/**
 * Deletes the account's API keys, codes and second factor. The change of password ends the sessions. The caller holds the
 * lock of the account's row.
 * @returns ids of the keys, for {@link recordDeletedKeys}
 */
export async function revokeAllCredentialsTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  now: number,
): Promise<readonly number[]> {
  await deleteCodesTx(tx, accountId);
  const hadFactor = await removeSecondFactorTx(tx, accountId);
  const keyIds = await deleteAccountKeysTx(tx, principal, accountId, now);
  if (hadFactor) await recordAccountEventTx(tx, principal, 'second_factor.removed', accountId, now);
  return keyIds;
}

/**
 * Runs a transaction that deletes all API keys of an account. If its outcome is unknown, the server deletes the keys before
 * it verifies one of them again; the client must repeat the request for the other changes.
 * @throws DomainError errors of `changeTx`, `unavailable`
 */
export const runDeletingKeys = <T>(
  { db, accounts }: SelfServiceOptions,
  principal: Principal,
  accountId: string,
  now: number,
  changeTx: (tx: Transaction) => Promise<T>,
): Promise<T> =>
  accounts.orFinish(accountId, {
    kind: 'delete keys',
    change: () => db.transaction(changeTx),
    finish: () => finishDeletingKeys(db, principal, accountId, now),
  });

/** Records the deletions in the deletion journal. Call it after the commit and before the response. */
export async function recordDeletedKeys(
  revocations: Revocations | undefined,
  keyIds: readonly number[],
  at: number,
): Promise<void> {
  if (keyIds.length > 0) await revocations?.record(keyIds.map((id) => ({ kind: 'api_key', id: String(id), at })));
}
