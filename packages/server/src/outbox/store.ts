/** Rows of the outbox: work that is to be done once the transaction that asks for it has committed. */
import type { Db, Transaction } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export interface NewWorkRow {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  /** Sealed with the id. */
  readonly payload: Buffer;
  readonly createdAt: number;
  readonly dueAt: number;
}

export interface WorkRow {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly payload: Uint8Array;
  readonly createdAt: number;
  /** This one included. */
  readonly attempts: number;
}

const insert = sql(
  'insert_outbox',
  `insert into outbox (id, kind, queue, payload, created_at, due_at, attempts, claimed_until, last_error)
   values ($1, $2, $3, $4, $5, $6, 0, 0, null) on conflict (id) do nothing`,
);
// Of each queue that nobody is at the first few, so that a slow receiver keeps nobody else waiting. What is looked at is
// bounded too: postponing a whole queue takes it out of the way.
const claimText = (lock: string): string =>
  `update outbox set claimed_until = $2, attempts = attempts + 1 where claimed_until <= $1 and id in (
     select id from (
       select id, row_number() over (partition by queue order by due_at, id) as place
       from (select id, queue, due_at from outbox where due_at <= $1 and claimed_until <= $1 order by due_at limit 1000 ${lock}) as due
       where not exists (select 1 from outbox busy where busy.queue = due.queue and busy.claimed_until > $1)
     ) as placed where place <= $3)
   returning id, kind, queue, payload, created_at as "createdAt", attempts`;
const claim = sql<WorkRow>('claim_outbox', {
  sqlite: claimText(''),
  postgres: claimText('for update skip locked'),
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
const postponeQueue = sql(
  'postpone_outbox_queue',
  `update outbox set due_at = $2 where queue = $1 and due_at < $2 and claimed_until = 0`,
);
const removeQueue = sql('delete_outbox_queue', `delete from outbox where queue = $1`);
const count = sql<{ kind: string; waiting: number; oldestAt: number }>(
  'count_outbox',
  `select kind, count(*) as waiting, min(created_at) as "oldestAt" from outbox group by kind order by kind`,
);

/** Once: work with the id of some that waits already is left out. */
export async function insertWork(tx: Transaction, row: NewWorkRow): Promise<void> {
  await tx.run(insert, [row.id, row.kind, row.queue, row.payload, row.createdAt, row.dueAt]);
}

/** Due work that nobody is at, at most `perQueueMax` of a queue; the caller is at it until `claimedUntil`. */
export const claimWork = (db: Db, now: number, claimedUntil: number, perQueueMax: number): Promise<WorkRow[]> =>
  db.transaction((tx) => tx.all(claim, [now, claimedUntil, perQueueMax]));

export const removeWork = async (tx: Transaction, id: string): Promise<void> => void (await tx.run(remove, [id]));

/** With all that waits in the same queue when `queue` is given. */
export async function postponeWork(db: Db, id: string, dueAt: number, error: string, queue?: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(postpone, [id, dueAt, error]);
    if (queue !== undefined) await tx.run(postponeQueue, [queue, dueAt]);
  });
}

/** Somebody else may be at it at once; the attempt doesn't count. */
export const releaseWork = async (db: Db, id: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(release, [id])));

/** All that waits in it, because whoever it is for is gone. */
export const removeQueueIn = async (tx: Transaction, queue: string): Promise<void> =>
  void (await tx.run(removeQueue, [queue]));

/** What waits, by kind. */
export const countWork = (db: Db): Promise<{ kind: string; waiting: number; oldestAt: number }[]> => db.all(count);
