/**
 * What ends when an account's owner is known for the first time: all that somebody else may have prepared. And the keys
 * that end with a password, whatever becomes of the connection.
 */
import { recordAccountEventTx } from '../audit/audit.ts';
import { deleteAccountKeysTx, finishDeletingKeys } from '../api-keys/store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { removeCodes } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import { removeSecondFactorTx } from '../second-factors/store.ts';
import type { SelfServiceOptions } from './options.ts';

/**
 * Its keys, codes and second factors; the sessions end with the password. Under the lock of the account's row.
 * @returns ids of the keys, for {@link recordDeletedKeys}
 */
export async function revokeAllCredentials(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  now: number,
): Promise<readonly number[]> {
  await removeCodes(tx, accountId);
  const hadFactor = await removeSecondFactorTx(tx, accountId);
  const keyIds = await deleteAccountKeysTx(tx, principal, accountId, now);
  if (hadFactor) await recordAccountEventTx(tx, principal, 'second_factor.removed', accountId, now);
  return keyIds;
}

/**
 * A transaction in which all keys of an account are deleted. When its outcome is unknown, the keys are deleted all the
 * same before one of them is answered again; whatever else was to happen is asked for again.
 * @throws DomainError what `work` throws, `unavailable`
 */
export const deletingKeys = <T>(
  { db, accounts }: SelfServiceOptions,
  principal: Principal,
  accountId: string,
  now: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> =>
  accounts.orFinish(accountId, {
    kind: 'delete keys',
    change: () => db.transaction(work),
    finish: () => finishDeletingKeys(db, principal, accountId, now),
  });

/** After the commit and before the answer. */
export async function recordDeletedKeys(
  revocations: Revocations | undefined,
  keyIds: readonly number[],
  at: number,
): Promise<void> {
  if (keyIds.length > 0) await revocations?.record(keyIds.map((id) => ({ kind: 'api_key', id: String(id), at })));
}
