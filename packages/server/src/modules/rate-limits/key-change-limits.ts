/**
 * How often an account may change or rotate its keys in a minute, and its management keys those of service accounts in an
 * hour. Counted in the transaction of the change.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { hourMs } from '../../foundation/clock.ts';
import type { AccountPrincipal, CanaryPrincipal, KeyPrincipal, Principal } from '../../foundation/principal.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

/** A principal whose creations and changes of keys are counted: for its own account, whichever account owns the keys. */
export type CountedPrincipal = Pick<AccountPrincipal | KeyPrincipal, 'kind' | 'accountId'>;
/** A principal whose creations of keys are counted. */
export type CountedCreator = CountedPrincipal | Pick<CanaryPrincipal, 'kind' | 'accountId'>;

export interface ManagedChangeLimits {
  readonly bucketHash: KeyedHash;
}

export const isCounted = (principal: Principal): principal is AccountPrincipal | KeyPrincipal =>
  principal.kind === 'account' || principal.kind === 'key';

export const isCountedCreator = (
  principal: Principal,
): principal is AccountPrincipal | KeyPrincipal | CanaryPrincipal =>
  isCounted(principal) || principal.kind === 'canary';

interface Counter {
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
}

const counters: Readonly<Record<CountedPrincipal['kind'], Counter>> = {
  account: { name: 'key changes', max: limits.keyChangesPerMinuteMax, windowMs: 60_000 },
  key: { name: 'managed key changes', max: limits.managedChangesPerHourMax, windowMs: hourMs },
};

const bucketOf = (bucketHash: KeyedHash, { kind, accountId }: CountedPrincipal): Buffer =>
  bucketHash.stored(JSON.stringify([counters[kind].name, accountId]));

/** @throws DomainError `too_many_changes`, which rolls the count back with the rest */
export async function countKeyChangeTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  principal: CountedPrincipal,
  now: number,
): Promise<void> {
  const counter = counters[principal.kind];
  assertBelow(counter, await incrementTx(tx, bucketOf(bucketHash, principal), now, counter), now);
}

/** Counts the changes that only management keys are limited in. Absent limits: nothing is counted. */
export async function countManagedChangeTx(
  tx: Transaction,
  changeLimits: ManagedChangeLimits | undefined,
  principal: Principal,
  now: number,
): Promise<void> {
  if (changeLimits && principal.kind === 'key') await countKeyChangeTx(tx, changeLimits.bucketHash, principal, now);
}

/** Rejects by a read what {@link countKeyChangeTx} would reject. @throws DomainError `too_many_changes` */
export async function assertKeyChangeAllowed(
  db: Db,
  bucketHash: KeyedHash,
  principal: CountedPrincipal,
  now: number,
): Promise<void> {
  const counter = counters[principal.kind];
  const [row] = await readBuckets(db, [bucketOf(bucketHash, principal)]);
  assertBelow(counter, predictIncrement(row, now, counter), now);
}

function assertBelow({ max, windowMs }: Counter, { count, windowStartedAt }: Bucket, now: number): void {
  if (count <= max) return;
  throw new DomainError('too_many_changes', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1_000)),
    rate: { policy: 'changes', quota: max, windowSeconds: windowMs / 1_000 },
  });
}
