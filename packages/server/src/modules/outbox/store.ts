/** Rows of the outbox: work that is to be done once the transaction that asks for it has committed. */
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
  /** This one included. */
  readonly attempts: number;
}

export interface WaitingJobs {
  readonly kind: string;
  readonly waiting: number;
  /** Milliseconds since 1970. */
  readonly oldestAt: number;
}

const insert = sql(
  'insert_outbox',
  `insert into outbox (id, kind, queue, payload, created_at, due_at, attempts, claimed_until, last_error)
   values ($1, $2, $3, $4, $5, $6, 0, 0, null) on conflict (id) do nothing`,
);
// From one queue to the next by the index, whatever waits in them: a long backlog costs no more than a short one.
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
const taken = 'set claimed_until = $3, attempts = attempts + 1';
const columns = `outbox.id, outbox.kind, outbox.queue, outbox.payload, outbox.created_at as "createdAt", outbox.attempts`;
// Rows that another instance is just claiming are passed over; one that it has claimed no longer fits.
const claim = sql<JobRow>('claim_outbox', {
  sqlite: `update outbox ${taken} where id in (${firstDue}) returning ${columns}`,
  postgres: `with due as materialized (${firstDue} for update skip locked)
    update outbox ${taken} from due where outbox.id = due.id returning ${columns}`,
});
const remove = sql('delete_outbox', `delete from outbox where id = $1`);
const postpone = sql(
  'postpone_outbox',
  `update outbox set due_at = $2, claimed_until = 0, last_error = $3 where id = $1`,
);
const release = sql(
  'release_outbox',
  `update outbox set claimed_until = 0, attempts = attempts - 1 where id = $1 and attempts > 0`,
);
// A claim that was given back meanwhile, because the work failed, stays given back.
const renewText = 'update outbox set claimed_until = $2 where claimed_until > 0 and id in';
const renew = sql('renew_outbox_claims', {
  sqlite: `${renewText} (select value from json_each($1))`,
  postgres: `${renewText} (select json_array_elements_text($1::json))`,
});
const removeQueue = sql('delete_outbox_queue', `delete from outbox where queue = $1`);
const count = sql<WaitingJobs>(
  'count_outbox',
  `select kind, count(*) as waiting, min(created_at) as "oldestAt"
   from (select kind, created_at from outbox limit $1) as looked_at group by kind order by kind`,
);

/** Queues beyond these wait until some of them are empty. */
const queuesMax = 1_000;

/** Once: work with the id of some that waits already is left out. */
export async function insertJob(tx: Transaction, row: NewJobRow): Promise<void> {
  await tx.run(insert, [row.id, row.kind, row.queue, row.payload, row.createdAt, row.dueAt]);
}

/** Queues with work that is due and that nobody is at, by name. */
export const findDueQueues = async (db: Db, now: number): Promise<string[]> =>
  (await db.all(selectDueQueues, [now, queuesMax])).map(({ queue }) => queue);

/** The first due work of a queue that nobody is at, at most `max`; the caller is at it until `claimedUntil`. */
export const claimJob = (
  db: Db,
  queue: string,
  { now, claimedUntil, max }: { now: number; claimedUntil: number; max: number },
): Promise<JobRow[]> => db.transaction((tx) => tx.all(claim, [queue, now, claimedUntil, max]));

export const removeJob = async (tx: Transaction, id: string): Promise<void> => void (await tx.run(remove, [id]));

/** @param error what went wrong, for people */
export const postponeJob = async (db: Db, id: string, dueAt: number, error: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(postpone, [id, dueAt, error])));

/** For work that takes longer than its claim lasts. */
export const renewClaims = async (db: Db, ids: readonly string[], claimedUntil: number): Promise<void> =>
  void (await db.transaction((tx) => tx.run(renew, [JSON.stringify(ids), claimedUntil])));

/** Somebody else may be at it at once; the attempt doesn't count. */
export const releaseJob = async (db: Db, id: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(release, [id])));

/** All that waits in it, because whoever it is for is gone. */
export const removeQueueTx = async (tx: Transaction, queue: string): Promise<void> =>
  void (await tx.run(removeQueue, [queue]));

/** What waits, by kind. Looks at no more than `rowsMax` rows: of a longer backlog it tells that it is as long. */
export const countJobs = (db: Db, rowsMax: number): Promise<WaitingJobs[]> => db.all(count, [rowsMax]);
