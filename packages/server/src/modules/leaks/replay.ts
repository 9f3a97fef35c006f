/** Ends leaked secrets again that a restored database has, although the deletion journal records their leaks. */
import type { Transaction } from '../../foundation/database/db.ts';
import type { DatedId } from '../../foundation/database/json-lists.ts';
import { endLeakedSecretTx, findLeakedSecretsTx, rememberLeakedTx } from '../api-keys/leak-store.ts';
import { endShortLivedTx } from '../short-lived-secrets/store.ts';

/**
 * The caller records the events. No other transaction changes keys meanwhile.
 * @param leaks ids: stored hashes in hexadecimal
 */
export async function endLeakedSecretsTx(tx: Transaction, leaks: readonly DatedId[], now: number): Promise<void> {
  const times = new Map(leaks.map(({ id, at }) => [id, at]));
  const hashes = leaks.map(({ id }) => Buffer.from(id, 'hex'));
  const ended = new Set<string>();
  for (const secret of await findLeakedSecretsTx(tx, hashes)) {
    endLeakedSecretTx(tx, secret, Math.max(now, secret.updatedAt + 1, (times.get(secret.hash) ?? 0) + 1));
    ended.add(secret.hash);
  }
  for (const hash of hashes) if (!ended.has(hash.toString('hex'))) await endShortLivedTx(tx, hash);
}

/**
 * Prevents that a key gets one of the secrets again, also one that the backup lacks.
 * @param leaks ids: stored hashes in hexadecimal
 */
export function rememberLeakedSecretsTx(tx: Transaction, leaks: readonly DatedId[]): void {
  for (const { id, at } of leaks) rememberLeakedTx(tx, Buffer.from(id, 'hex'), at);
}
