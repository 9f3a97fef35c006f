/** Counters of a window, raised in the transaction of what they limit. */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

export interface WindowCounter {
  readonly bucket: Uint8Array;
  readonly max: number;
  readonly windowMs: number;
  /** The error is `too_many_` with it. */
  readonly policy: 'changes' | 'creations' | 'exchanges' | 'portal_sessions';
}

/** @throws DomainError `too_many_…`, which rolls the count back with the rest */
export const countTx = async (tx: Transaction, counter: WindowCounter, now: number): Promise<void> =>
  assertBelow(counter, await incrementTx(tx, counter.bucket, now, counter), now);

/** Rejects by a read what {@link countTx} would reject. @throws DomainError `too_many_…` */
export async function assertAllowed(db: Db, counter: WindowCounter, now: number): Promise<void> {
  const [row] = await readBuckets(db, [counter.bucket]);
  assertBelow(counter, predictIncrement(row, now, counter), now);
}

function assertBelow({ max, windowMs, policy }: WindowCounter, { count, windowStartedAt }: Bucket, now: number): void {
  if (count <= max) return;
  throw new DomainError(`too_many_${policy}`, {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1_000)),
    rate: { policy, quota: max, windowSeconds: windowMs / 1_000 },
  });
}
