/**
 * Revokes the credentials that an attacker may have created in an unverified account, and deletes API keys together with a
 * password change even if the database connection breaks at the commit.
 */
import { recordAccountEventTx } from '../audit/audit.ts';
import { deleteAccountKeysTx } from '../api-keys/store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { deleteCodesTx } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { keyDeletions } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { removeSecondFactorTx } from '../second-factors/store.ts';
import type { SelfServiceOptions } from './options.ts';

/**
 * Deletes the account's API keys, codes and second factor. The change of password ends the sessions. The caller holds the
 * lock of the account's row.
 * @returns ids of the keys
 */
export async function revokeAllCredentialsTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  now: number,
): Promise<readonly number[]> {
  await deleteCodesTx(tx, accountId);
  const hadFactor = await removeSecondFactorTx(tx, accountId);
  const keyIds = await deleteAccountKeysTx(tx, { principal, now }, accountId);
  if (hadFactor) await recordAccountEventTx(tx, { at: now, principal, action: 'second_factor.removed', accountId });
  return keyIds;
}

export interface DeletingKeys<T> {
  readonly principal: Principal;
  readonly accountId: string;
  readonly now: number;
  /** Whether it deletes all keys. Otherwise the client repeats the whole request after an unknown outcome. */
  readonly deletesKeys: boolean;
  readonly changeTx: (tx: Transaction) => Promise<T>;
}

/**
 * Runs a transaction that may delete all API keys of an account, besides other changes. If its outcome is unknown, the server
 * deletes the keys before it verifies one of them again; the client must repeat the request for the other changes.
 * @throws DomainError errors of `changeTx`, `unavailable`
 */
export const runDeletingKeys = <T extends { readonly deletedIds: readonly number[] }>(
  options: SelfServiceOptions,
  { principal, accountId, now, deletesKeys, changeTx }: DeletingKeys<T>,
): Promise<T> => {
  const repeatTx = (tx: Transaction): Promise<number[]> => deleteAccountKeysTx(tx, { principal, now }, accountId);
  const of = () => [{ id: accountId, kind: 'delete keys', txs: [repeatTx] }];
  return runNarrowing(options, {
    changeTx,
    recordedOf: ({ deletedIds }) => [{ accountId, at: now }, ...keyDeletions(deletedIds, now)],
    afterCommit: () => options.mailer.sendSoon(),
    ...(deletesKeys ? { repetition: { pending: options.accounts.unfinished, of } } : {}),
  });
};
