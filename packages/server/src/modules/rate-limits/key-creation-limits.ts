/** How many keys an account may create in a minute. Counted in the creation's own transaction. */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { foresee, raise, readBuckets, type Bucket } from './store.ts';

export interface KeyCreationLimits {
  readonly bucketHash: KeyedHash;
  readonly creationsPerMinuteMax: number;
}

const windowMs = limits.creationWindowSeconds * 1000;
const bucketOf = ({ bucketHash }: KeyCreationLimits, accountId: string): Buffer =>
  bucketHash.stored(JSON.stringify(['key creations', accountId]));

/** @throws DomainError `too_many_creations`, which rolls the count back with the rest */
export async function countCreation(
  tx: Transaction,
  throttle: KeyCreationLimits,
  accountId: string,
  now: number,
): Promise<void> {
  assertBelow(throttle, await raise(tx, bucketOf(throttle, accountId), now, { windowMs }), now);
}

/** What {@link countCreation} would do, by a plain read. @throws DomainError `too_many_creations` */
export async function foreseeCreation(
  db: Db,
  throttle: KeyCreationLimits,
  accountId: string,
  now: number,
): Promise<void> {
  const [row] = await readBuckets(db, [bucketOf(throttle, accountId)]);
  assertBelow(throttle, foresee(row, now, { windowMs }), now);
}

function assertBelow(
  { creationsPerMinuteMax: quota }: KeyCreationLimits,
  { count, windowStartedAt }: Bucket,
  now: number,
): void {
  if (count <= quota) return;
  throw new DomainError('too_many_creations', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1000)),
    rate: { policy: 'creations', quota, windowSeconds: limits.creationWindowSeconds },
  });
}
