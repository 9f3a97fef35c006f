/**
 * How many keys an account may create in a minute, and its management keys or its canary credential in an hour. They are
 * counted in the transaction that creates the key.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { hourMs } from '../../foundation/clock.ts';
import type { CountedCreator } from './key-change-limits.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

export interface KeyCreationLimits {
  readonly bucketHash: KeyedHash;
  readonly creationsPerMinuteMax: number;
}

interface Counter {
  readonly bucket: Buffer;
  readonly max: number;
  readonly windowMs: number;
}

function counterOf(creationLimits: KeyCreationLimits, { kind, accountId }: CountedCreator): Counter {
  const { bucketHash, creationsPerMinuteMax: perMinute } = creationLimits;
  const bucketOf = (name: string): Buffer => bucketHash.stored(JSON.stringify([name, accountId]));
  if (kind === 'account')
    return { bucket: bucketOf('key creations'), max: perMinute, windowMs: limits.creationWindowSeconds * 1_000 };
  if (kind === 'canary')
    return { bucket: bucketOf('canary key creations'), max: limits.canaryKeysPerHourMax, windowMs: hourMs };
  // An operator who allows more in a minute allows it for management keys, too.
  const max = Math.max(limits.managedCreationsPerHourMax, perMinute * 60);
  return { bucket: bucketOf('managed key creations'), max, windowMs: hourMs };
}

/** @throws DomainError `too_many_creations`, which rolls the count back with the rest */
export async function countCreationTx(
  tx: Transaction,
  creationLimits: KeyCreationLimits,
  principal: CountedCreator,
  now: number,
): Promise<void> {
  const counter = counterOf(creationLimits, principal);
  assertBelow(counter, await incrementTx(tx, counter.bucket, now, counter), now);
}

/** Rejects by a read what {@link countCreationTx} would reject. @throws DomainError `too_many_creations` */
export async function assertCreationAllowed(
  db: Db,
  creationLimits: KeyCreationLimits,
  principal: CountedCreator,
  now: number,
): Promise<void> {
  const counter = counterOf(creationLimits, principal);
  const [row] = await readBuckets(db, [counter.bucket]);
  assertBelow(counter, predictIncrement(row, now, counter), now);
}

function assertBelow({ max, windowMs }: Counter, { count, windowStartedAt }: Bucket, now: number): void {
  if (count <= max) return;
  throw new DomainError('too_many_creations', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1_000)),
    rate: { policy: 'creations', quota: max, windowSeconds: windowMs / 1_000 },
  });
}
