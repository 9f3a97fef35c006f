/**
 * Rate-limit counters. They are rows of the database, so that all instances count together. Their ids are keyed hashes,
 * so that a row discloses neither an email nor a client IP. One statement raises and reads a count, so that two requests
 * never get the same count.
 */
import { aheadMsMax } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';

export interface Bucket {
  readonly count: number;
  /** The start of the window. For a leaking counter: the time up to which it has leaked. */
  readonly windowStartedAt: number;
  readonly blockedUntil: number;
}

/** How a count decays: it starts again when its window is over, or it falls by one each `leakMs`. Undefined: never. */
export type Decay = { readonly windowMs: number } | { readonly leakMs: number } | undefined;

/** Whether an attempt has to wait. A block from a clock that was ahead has no effect. @param blockMsMax the longest block */
export const isBlocked = ({ blockedUntil }: Bucket, now: number, blockMsMax: number): boolean =>
  blockedUntil > now && blockedUntil <= now + blockMsMax + aheadMsMax;

interface BucketRow extends Bucket {
  readonly touchedAt: number;
}

const insertText = `insert into rate_limit_buckets (bucket, count, window_started_at, blocked_until, touched_at)
   values ($1, 1, $2, 0, $2)
   on conflict (bucket) do update set`;
// An instance whose clock is behind must not make a counter look older.
const touchedText = `touched_at = case when rate_limit_buckets.touched_at > $2 then rate_limit_buckets.touched_at else $2 end`;
const returningText = `returning count, window_started_at as "windowStartedAt", blocked_until as "blockedUntil"`;
const runningText = 'rate_limit_buckets.window_started_at > $3 and rate_limit_buckets.window_started_at <= $4';
const incrementBucket = sql<Bucket>(
  'increment_rate_limit_bucket',
  `${insertText}
     count = case when ${runningText} then rate_limit_buckets.count + 1 else 1 end,
     window_started_at = case when ${runningText} then rate_limit_buckets.window_started_at else $2 end,
     ${touchedText}
   ${returningText}`,
);
const leakedText = `(case when $2 > rate_limit_buckets.window_started_at
  then cast(($2 - rate_limit_buckets.window_started_at) / $3 as bigint) else 0 end)`;
const remainingText = `rate_limit_buckets.count > ${leakedText} and rate_limit_buckets.window_started_at <= $4`;
const incrementLeakingBucket = sql<Bucket>(
  'increment_leaking_rate_limit_bucket',
  `${insertText}
     count = case when ${remainingText} then rate_limit_buckets.count - ${leakedText} + 1 else 1 end,
     window_started_at = case when ${remainingText}
       then rate_limit_buckets.window_started_at + ${leakedText} * $3 else $2 end,
     ${touchedText}
   ${returningText}`,
);
const blockBucket = sql(
  'block_rate_limit_bucket',
  `update rate_limit_buckets set blocked_until = $2 where bucket = $1`,
);
const decrementBucket = sql(
  'decrement_rate_limit_bucket',
  `update rate_limit_buckets set count = case when count > 0 then count - 1 else 0 end where bucket = $1`,
);
const deleteBucket = sql('delete_rate_limit_bucket', `delete from rate_limit_buckets where bucket = $1`);
const columns = `count, window_started_at as "windowStartedAt", blocked_until as "blockedUntil", touched_at as "touchedAt"`;
const selectBuckets = sqlMany<BucketRow>('select_rate_limit_bucket', {
  sqlite: `select ${columns} from rate_limit_buckets where bucket = $1`,
  postgres: `select requested.ordinal, ${columns}
   from unnest($1::bytea[]) with ordinality as requested (id, ordinal)
     join rate_limit_buckets on bucket = requested.id`,
});
const selectBucket = sql<BucketRow>(
  'select_one_rate_limit_bucket',
  `select ${columns} from rate_limit_buckets where bucket = $1`,
);
// Bounded, so that a clean-up never delays a commit for long.
const deleteAllRows = sql('delete_all_rate_limit_buckets', 'delete from rate_limit_buckets');
const deleteUntouchedRows = sql(
  'delete_untouched_rate_limit_buckets',
  `delete from rate_limit_buckets where touched_at < $1 and bucket in (select bucket from rate_limit_buckets where touched_at < $1 limit $2)`,
);

export async function incrementTx(tx: Transaction, bucket: Uint8Array, now: number, decay?: Decay): Promise<Bucket> {
  const row =
    decay && 'leakMs' in decay
      ? await tx.get(incrementLeakingBucket, [bucket, now, decay.leakMs, now + aheadMsMax])
      : await tx.get(incrementBucket, [bucket, now, ...windowOf(decay, now)]);
  if (!row) throw new Error('an upsert returned no row');
  return row;
}

/**
 * The window of a counter runs if it began after the first time, and not after the second one. A counter from a clock that was ahead
 * starts again: it would reject all attempts until that time.
 */
const windowOf = (decay: { readonly windowMs: number } | undefined, now: number): readonly [number, number] =>
  decay === undefined ? [-1, Number.MAX_SAFE_INTEGER] : [now - decay.windowMs, now + aheadMsMax];

export function blockTx(tx: Transaction, bucket: Uint8Array, until: number): void {
  tx.enqueue(blockBucket, [bucket, until]);
}

/** Never below zero. */
export function decrementTx(tx: Transaction, bucket: Uint8Array): void {
  tx.enqueue(decrementBucket, [bucket]);
}

export function clearTx(tx: Transaction, bucket: Uint8Array): void {
  tx.enqueue(deleteBucket, [bucket]);
}

/** The committed counters, in order, from one snapshot taken after the call. Does not wait for writes. */
export const readBuckets = (db: Db, buckets: readonly Uint8Array[]): Promise<(BucketRow | undefined)[]> =>
  db.getMany(
    selectBuckets,
    buckets.map((bucket) => [bucket]),
  );

/** Without a lock: another transaction may change the counter. */
export const readBucketTx = (tx: Transaction, bucket: Uint8Array): Promise<BucketRow | undefined> =>
  tx.get(selectBucket, [bucket]);

/** What {@link incrementTx} would return for this row. A request that is rejected by it costs no commit. */
export function predictIncrement(row: Bucket | undefined, now: number, decay?: Decay): Bucket {
  const fresh = { count: 1, windowStartedAt: now, blockedUntil: row?.blockedUntil ?? 0 };
  if (!row) return fresh;
  if (decay && 'leakMs' in decay) {
    const leaked = Math.max(0, Math.floor((now - row.windowStartedAt) / decay.leakMs));
    if (row.count <= leaked || row.windowStartedAt > now + aheadMsMax) return fresh;
    const windowStartedAt = row.windowStartedAt + leaked * decay.leakMs;
    return { ...fresh, count: row.count - leaked + 1, windowStartedAt };
  }
  const [after, until] = windowOf(decay, now);
  const isRunning = row.windowStartedAt > after && row.windowStartedAt <= until;
  return isRunning ? { ...fresh, count: row.count + 1, windowStartedAt: row.windowStartedAt } : fresh;
}

/** After a rotation of the root key, which changes the names of all counters. */
export const deleteAllBucketsTx = async (tx: Transaction): Promise<void> => void (await tx.run(deleteAllRows));

/** Deletes counters that were not raised since `before`. @returns how many, at most `rowsMax` */
export async function deleteUntouchedBuckets(db: Db, before: number, rowsMax: number): Promise<number> {
  return db.transaction((tx) => tx.run(deleteUntouchedRows, [before, rowsMax]));
}
