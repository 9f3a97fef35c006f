/** How many keys an account may create in a minute. Counted in the transaction that creates the key. */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

export interface KeyCreationLimits {
  readonly bucketHash: KeyedHash;
  readonly creationsPerMinuteMax: number;
}

const windowMs = limits.creationWindowSeconds * 1000;
const bucketOf = ({ bucketHash }: KeyCreationLimits, accountId: string): Buffer =>
  bucketHash.stored(JSON.stringify(['key creations', accountId]));

/** @throws DomainError `too_many_creations`, which rolls the count back with the rest */
export async function countCreationTx(
  tx: Transaction,
  creationLimits: KeyCreationLimits,
  accountId: string,
  now: number,
): Promise<void> {
  assertBelow(creationLimits, await incrementTx(tx, bucketOf(creationLimits, accountId), now, { windowMs }), now);
}

/** Rejects by a read what {@link countCreationTx} would reject. @throws DomainError `too_many_creations` */
export async function assertCreationAllowed(
  db: Db,
  creationLimits: KeyCreationLimits,
  accountId: string,
  now: number,
): Promise<void> {
  const [row] = await readBuckets(db, [bucketOf(creationLimits, accountId)]);
  assertBelow(creationLimits, predictIncrement(row, now, { windowMs }), now);
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
