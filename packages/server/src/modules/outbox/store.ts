/** SQL of the outbox: jobs that run after the transaction that inserts them has committed. */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface NewJobRow {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  /** Sealed with the id. */
  readonly payload: Buffer;
  readonly createdAt: number;
  readonly dueAt: number;
}

export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly payload: Uint8Array;
  readonly createdAt: number;
  /** Including this attempt. */
  readonly attempts: number;
  /** Earlier attempts whose outcome is unknown. */
  readonly handedOver: number;
}

export interface WaitingJobs {
  readonly kind: string;
  readonly waiting: number;
  /** Milliseconds since 1970. */
  readonly oldestAt: number;
}

/** A job without its content. */
export interface ListedJob {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly attempts: number;
  /** Of the last failed attempt. */
  readonly lastError: string | null;
}

export interface JobFilter {
  /** Empty for any. */
  readonly kind: string;
  /** Undefined for any. */
  readonly isFailing: boolean | undefined;
}

/** Jobs of which an attempt failed. */
export interface FailingJobs {
  readonly kind: string;
  readonly count: number;
  /** The creation of the oldest, in milliseconds since 1970. */
  readonly since: number;
}

const insert = sql(
  'insert_outbox',
  `insert into outbox (id, kind, queue, payload, created_at, due_at, attempts, claimed_until, last_error)
   values ($1, $2, $3, $4, $5, $6, 0, 0, null) on conflict (id) do nothing`,
);
// Steps from queue to queue in the index, so the cost does not depend on the number of rows.
const selectDueQueues = sql<{ queue: string }>(
  'select_due_outbox_queues',
  `with recursive queues (queue) as (
     select min(queue) from outbox
     union all
     select (select min(later.queue) from outbox later where later.queue > queues.queue)
     from queues where queues.queue is not null)
   select queue from queues where queue is not null and exists (
     select 1 from outbox due where due.queue = queues.queue and due.due_at <= $1 and due.claimed_until <= $1)
   limit $2`,
);
const firstDue = `select id from outbox where queue = $1 and due_at <= $2 and claimed_until <= $2
  order by due_at, id limit $4`;
const claimed = 'set claimed_until = $3, attempts = attempts + 1';
const columns = `outbox.id, outbox.kind, outbox.queue, outbox.payload, outbox.created_at as "createdAt", outbox.attempts,
  outbox.handed_over as "handedOver"`;
// Skips rows that another instance is claiming. Rows that it has claimed no longer match the condition.
const claim = sql<JobRow>('claim_outbox', {
  sqlite: `update outbox ${claimed} where id in (${firstDue}) returning ${columns}`,
  postgres: `with due as materialized (${firstDue} for update skip locked)
    update outbox ${claimed} from due where outbox.id = due.id returning ${columns}`,
});
const remove = sql('delete_outbox', `delete from outbox where id = $1`);
const postpone = sql(
  'postpone_outbox',
  `update outbox set due_at = $2, claimed_until = 0, last_error = $3, handed_over = $4 where id = $1`,
);
// A process that was stalled until its claim ended changes nothing: the process that has the job now counts too.
const handOver = sql(
  'hand_over_outbox',
  `update outbox set handed_over = handed_over + 1, due_at = $3 where id = $1 and handed_over = $2`,
);
const release = sql(
  'release_outbox',
  `update outbox set claimed_until = 0, attempts = attempts - 1 where id = $1 and attempts > 0`,
);
// A claim that was released meanwhile, because the job failed, stays released.
const renewText = 'update outbox set claimed_until = $2 where claimed_until > 0 and id in';
const renew = sql('renew_outbox_claims', {
  sqlite: `${renewText} (select value from json_each($1))`,
  postgres: `${renewText} (select json_array_elements_text($1::json))`,
});
const makeQueueDue = sql('make_outbox_queue_due', `update outbox set due_at = $2 where queue = $1 and due_at > $2`);
const removeQueue = sql('delete_outbox_queue', `delete from outbox where queue = $1`);
const count = sql<WaitingJobs>(
  'count_outbox',
  `select kind, count(*) as waiting, min(created_at) as "oldestAt"
   from (select kind, created_at from outbox limit $1) as counted group by kind order by kind`,
);

const part = 'select * from outbox where id > $1 order by id limit $2';
// $4: 1 for failing jobs, 0 for others, -1 for both.
const listPage = sql<ListedJob>(
  'list_outbox_page',
  `select id, kind, queue, created_at as "createdAt", due_at as "dueAt", attempts, last_error as "lastError"
   from (${part}) part where ($3 = '' or kind = $3)
     and ($4 = -1 or (case when last_error is null then 0 else 1 end) = $4) order by id limit $5`,
);
const selectLastListed = sql<{ id: string }>(
  'last_listed_outbox_job',
  'select id from outbox where id > $1 order by id limit 1 offset $2',
);
const selectFailing = sql<FailingJobs>(
  'list_failing_outbox',
  `select kind, count(*) as count, min(created_at) as since
   from (select kind, created_at, last_error from outbox limit $1) as counted where last_error is not null
   group by kind order by kind`,
);

/** Further queues wait until some of these are empty. */
const queuesMax = 1_000;

/** Inserts a job, unless there is one with the same id. */
export async function insertJobTx(tx: Transaction, row: NewJobRow): Promise<void> {
  await tx.run(insert, [row.id, row.kind, row.queue, row.payload, row.createdAt, row.dueAt]);
}

/** @returns the names of the queues with due jobs that are not claimed, in order */
export const findDueQueues = async (db: Db, now: number): Promise<string[]> =>
  (await db.all(selectDueQueues, [now, queuesMax])).map(({ queue }) => queue);

/** Claims the first due jobs of a queue until `claimedUntil`, at most `max`. */
export const claimJobs = (
  db: Db,
  queue: string,
  { now, claimedUntil, max }: { now: number; claimedUntil: number; max: number },
): Promise<JobRow[]> => db.transaction((tx) => tx.all(claim, [queue, now, claimedUntil, max]));

export const removeJobTx = async (tx: Transaction, id: string): Promise<void> => void (await tx.run(remove, [id]));

/** @param job.handedOver attempts whose outcome is unknown @param error the reason, for operators */
export const postponeJob = async (
  db: Db,
  { id, handedOver }: Pick<JobRow, 'id' | 'handedOver'>,
  dueAt: number,
  error: string,
): Promise<void> => void (await db.transaction((tx) => tx.run(postpone, [id, dueAt, error, handedOver])));

/**
 * Records one more attempt whose outcome is unknown, and when the job is due if it stays unknown.
 * @param handedOver as the claim returned it
 * @returns false if the job has gone, or another process has recorded an attempt meanwhile
 */
export const handOverJobTx = async (
  tx: Transaction,
  { id, handedOver }: Pick<JobRow, 'id' | 'handedOver'>,
  dueAt: number,
): Promise<boolean> => (await tx.run(handOver, [id, handedOver, dueAt])) === 1;

/** For jobs that run longer than a claim lasts. */
export const renewClaims = async (db: Db, ids: readonly string[], claimedUntil: number): Promise<void> =>
  void (await db.transaction((tx) => tx.run(renew, [JSON.stringify(ids), claimedUntil])));

/** Releases a claim without counting the attempt. */
export const releaseJob = async (db: Db, id: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(release, [id])));

/** Repeats all jobs of a queue soon, because its recipient has changed. */
export const makeQueueDueTx = async (tx: Transaction, queue: string, now: number): Promise<void> =>
  void (await tx.run(makeQueueDue, [queue, now]));

/** Removes all jobs of a queue whose recipient was deleted or disabled. */
export const removeQueueTx = async (tx: Transaction, queue: string): Promise<void> =>
  void (await tx.run(removeQueue, [queue]));

/** By kind; of 10,000 jobs at most. */
export const listFailingJobs = (db: Db): Promise<FailingJobs[]> => db.all(selectFailing, [10_000]);

/** Counts jobs by kind, `rowsMax` rows at most. */
export const countJobs = (db: Db, rowsMax: number): Promise<WaitingJobs[]> => db.all(count, [rowsMax]);

export interface JobPart {
  /** Only jobs with a higher id. */
  readonly after: string;
  /** How many jobs are searched. */
  readonly searchedMax: number;
  /** How many jobs are returned. */
  readonly limit: number;
}

/** In the order of ids. */
export const listJobs = (
  db: Db,
  { kind, isFailing }: JobFilter,
  { after, searchedMax, limit }: JobPart,
): Promise<ListedJob[]> =>
  db.all(listPage, [after, searchedMax, kind, isFailing === undefined ? -1 : Number(isFailing), limit]);

/** @returns the last job that {@link listJobs} searches; undefined if it searches all remaining jobs */
export const findLastListed = async (db: Db, { after, searchedMax }: JobPart): Promise<string | undefined> =>
  (await db.get(selectLastListed, [after, searchedMax - 1]))?.id;
