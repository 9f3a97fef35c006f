/**
 * The limit of assertions that an API key exchanges in a minute. Counted in the transaction that issues the short-lived secret: only
 * the holder of the private key can use the allowance up.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { countTx } from './window-counter.ts';

/** @throws DomainError `too_many_exchanges`, which rolls the count back with the rest */
export async function countExchangeTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  keyId: number,
  now: number,
): Promise<void> {
  const bucket = bucketHash.stored(JSON.stringify(['exchanges', keyId]));
  await countTx(tx, { bucket, max: limits.exchangesPerMinuteMax, windowMs: 60_000, policy: 'exchanges' }, now);
}
