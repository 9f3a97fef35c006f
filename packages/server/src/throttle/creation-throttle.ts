/** How many keys an account may create in a minute. Counted in the creation's own transaction. */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../crypto/keyed-hash.ts';
import type { Transaction } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import { raise } from './store.ts';

export interface CreationThrottle {
  readonly bucketHash: KeyedHash;
  readonly creationsPerMinuteMax: number;
}

/** @throws DomainError `too_many_creations`, which rolls the count back with the rest */
export async function countCreation(
  tx: Transaction,
  throttle: CreationThrottle,
  accountId: string,
  now: number,
): Promise<void> {
  const windowMs = limits.creationWindowSeconds * 1000;
  const bucket = throttle.bucketHash.stored(JSON.stringify(['key creations', accountId]));
  const { count, windowStartedAt } = await raise(tx, bucket, now, windowMs);
  if (count <= throttle.creationsPerMinuteMax) return;
  throw new DomainError('too_many_creations', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1000)),
    rate: { policy: 'creations', quota: throttle.creationsPerMinuteMax, windowSeconds: limits.creationWindowSeconds },
  });
}
