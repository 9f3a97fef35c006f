/**
 * The limit of assertions that an API key exchanges in a minute. Counted in the transaction that issues the short-lived secret: only
 * the holder of the private key can use the allowance up.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { incrementTx } from './store.ts';

const windowMs = 60_000;
const max = limits.exchangesPerMinuteMax;

/** @throws DomainError `too_many_exchanges`, which rolls the count back with the rest */
export async function countExchangeTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  keyId: number,
  now: number,
): Promise<void> {
  const bucket = bucketHash.stored(JSON.stringify(['exchanges', keyId]));
  const { count, windowStartedAt } = await incrementTx(tx, bucket, now, { windowMs });
  if (count <= max) return;
  throw new DomainError('too_many_exchanges', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1_000)),
    rate: { policy: 'exchanges', quota: max, windowSeconds: windowMs / 1_000 },
  });
}
