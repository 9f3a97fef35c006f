/**
 * How many keys an account may create in a minute, and its management keys or its canary credential in an hour. They are
 * counted in the transaction that creates the key.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { hourMs } from '../../foundation/clock.ts';
import type { CountedCreator } from './key-change-limits.ts';
import { assertAllowed, countTx, type WindowCounter } from './window-counter.ts';

export interface KeyCreationLimits {
  readonly bucketHash: KeyedHash;
  readonly creationsPerMinuteMax: number;
}

/** The counter of the creations by a principal, which `countTx` raises. */
export function creationCounterOf(
  creationLimits: KeyCreationLimits,
  { kind, accountId }: CountedCreator,
): WindowCounter {
  const { bucketHash, creationsPerMinuteMax: perMinute } = creationLimits;
  const counter = (name: string, max: number, windowMs = hourMs): WindowCounter => {
    return { bucket: bucketHash.stored(JSON.stringify([name, accountId])), max, windowMs, policy: 'creations' };
  };
  if (kind === 'account') return counter('key creations', perMinute, limits.creationWindowSeconds * 1_000);
  if (kind === 'canary') return counter('canary key creations', limits.canaryKeysPerHourMax);
  // An operator who allows more in a minute allows it for management keys, too.
  return counter('managed key creations', Math.max(limits.managedCreationsPerHourMax, perMinute * 60));
}

/** @throws DomainError `too_many_creations`, which rolls the count back with the rest */
export async function countCreationTx(
  tx: Transaction,
  creationLimits: KeyCreationLimits,
  principal: CountedCreator,
  now: number,
): Promise<void> {
  await countTx(tx, creationCounterOf(creationLimits, principal), now);
}

/** Rejects by a read what {@link countCreationTx} would reject. @throws DomainError `too_many_creations` */
export async function assertCreationAllowed(
  db: Db,
  creationLimits: KeyCreationLimits,
  principal: CountedCreator,
  now: number,
): Promise<void> {
  await assertAllowed(db, creationCounterOf(creationLimits, principal), now);
}
