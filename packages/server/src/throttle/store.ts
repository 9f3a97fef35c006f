/**
 * Counters that limit how often something may happen. They live in the database, so that all instances count together,
 * under keyed hashes, so that they name nobody. A count is raised and read by one statement: a burst can't slip through
 * between the two.
 */
import type { Db, Transaction } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export interface Bucket {
  readonly count: number;
  readonly windowStartedAt: number;
  readonly blockedUntil: number;
}

const raiseBucket = sql<Bucket>(
  'raise_throttle_bucket',
  `insert into throttle_buckets (bucket, count, window_started_at, blocked_until, touched_at)
   values ($1, 1, $2, 0, $2)
   on conflict (bucket) do update set
     count = case when throttle_buckets.window_started_at > $3 then throttle_buckets.count + 1 else 1 end,
     window_started_at = case when throttle_buckets.window_started_at > $3 then throttle_buckets.window_started_at else $2 end,
     touched_at = case when throttle_buckets.touched_at > $2 then throttle_buckets.touched_at else $2 end
   returning count, window_started_at as "windowStartedAt", blocked_until as "blockedUntil"`,
);
const blockBucket = sql('block_throttle_bucket', `update throttle_buckets set blocked_until = $2 where bucket = $1`);
const lowerBucket = sql(
  'lower_throttle_bucket',
  `update throttle_buckets set count = case when count > $2 then count - $2 else 0 end where bucket = $1`,
);
const deleteBucket = sql<{ count: number }>(
  'delete_throttle_bucket',
  `delete from throttle_buckets where bucket = $1 returning count`,
);
const selectBucket = sql<Bucket>(
  'select_throttle_bucket',
  `select count, window_started_at as "windowStartedAt", blocked_until as "blockedUntil"
   from throttle_buckets where bucket = $1`,
);
const selectTouched = sql<{ touchedAt: number }>(
  'select_throttle_bucket_touched',
  `select touched_at as "touchedAt" from throttle_buckets where bucket = $1`,
);
// Bounded, so that a clean-up never holds up a commit for long.
const forgetBuckets = sql(
  'forget_throttle_buckets',
  `delete from throttle_buckets where touched_at < $1 and bucket in (select bucket from throttle_buckets where touched_at < $1 limit $2)`,
);

/** @param windowMs counts that began longer ago start anew; without it they never do */
export async function raise(tx: Transaction, bucket: Buffer, now: number, windowMs?: number): Promise<Bucket> {
  const row = await tx.get(raiseBucket, [bucket, now, windowMs === undefined ? -1 : now - windowMs]);
  if (!row) throw new Error('an upsert returned no row');
  return row;
}

export async function block(tx: Transaction, bucket: Buffer, until: number): Promise<void> {
  await tx.run(blockBucket, [bucket, until]);
}

/** Never below nothing. */
export async function lower(tx: Transaction, bucket: Buffer, by = 1): Promise<void> {
  await tx.run(lowerBucket, [bucket, by]);
}

/** @returns what the count was */
export async function clear(tx: Transaction, bucket: Buffer): Promise<number> {
  return (await tx.get(deleteBucket, [bucket]))?.count ?? 0;
}

/** Where a single row is read: in a transaction with its own writes, else what was committed. */
type Reader = Pick<Transaction, 'get'>;

/** What {@link raise} would return, by a plain read: who is refused anyway need not ask the only writer. */
export async function foresee(reader: Reader, bucket: Buffer, now: number, windowMs?: number): Promise<Bucket> {
  const row = await reader.get(selectBucket, [bucket]);
  const isRunning = row !== undefined && (windowMs === undefined || row.windowStartedAt > now - windowMs);
  return {
    count: isRunning ? row.count + 1 : 1,
    windowStartedAt: isRunning ? row.windowStartedAt : now,
    blockedUntil: row?.blockedUntil ?? 0,
  };
}

export async function touchedAt(tx: Reader, bucket: Buffer): Promise<number | undefined> {
  return (await tx.get(selectTouched, [bucket]))?.touchedAt;
}

/** Deletes counters that nothing has touched since. @returns how many */
export async function forget(db: Db, before: number, rowsMax: number): Promise<number> {
  return db.transaction((tx) => tx.run(forgetBuckets, [before, rowsMax]));
}
