/** How often an account may change or rotate its keys in a minute. Counted in the transaction of the change. */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { incrementTx, predictIncrement, readBuckets, type Bucket } from './store.ts';

const windowMs = 60_000;
const bucketOf = (bucketHash: KeyedHash, accountId: string): Buffer =>
  bucketHash.stored(JSON.stringify(['key changes', accountId]));

/** @throws DomainError `too_many_changes`, which rolls the count back with the rest */
export async function countKeyChangeTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  accountId: string,
  now: number,
): Promise<void> {
  assertBelow(await incrementTx(tx, bucketOf(bucketHash, accountId), now, { windowMs }), now);
}

/** Rejects by a read what {@link countKeyChangeTx} would reject. @throws DomainError `too_many_changes` */
export async function assertKeyChangeAllowed(
  db: Db,
  bucketHash: KeyedHash,
  accountId: string,
  now: number,
): Promise<void> {
  const [row] = await readBuckets(db, [bucketOf(bucketHash, accountId)]);
  assertBelow(predictIncrement(row, now, { windowMs }), now);
}

function assertBelow({ count, windowStartedAt }: Bucket, now: number): void {
  const quota = limits.keyChangesPerMinuteMax;
  if (count <= quota) return;
  throw new DomainError('too_many_changes', {
    retryAfterSeconds: Math.max(1, Math.ceil((windowStartedAt + windowMs - now) / 1000)),
    rate: { policy: 'changes', quota, windowSeconds: windowMs / 1000 },
  });
}
