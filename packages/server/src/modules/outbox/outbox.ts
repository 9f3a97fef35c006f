/**
 * The outbox: work that must happen if and only if a transaction commits, and whose time must not show in an answer.
 * Its row is written in that transaction; afterwards any instance does the work, once or, after a crash, again: what is
 * sent carries the row's id.
 */
import { randomInt } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { runAsSystem } from '../../foundation/database/share.ts';
import * as store from './store.ts';

/** What an outbox does, and the shape of each kind's payload is its handler's. */
export const jobKinds = ['mail', 'decoy', 'sign_up', 'password_reset', 'webhook'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface Job {
  readonly id: string;
  readonly payload: unknown;
  readonly createdAt: number;
  /** This one included. */
  readonly attempts: number;
  /** Takes it out in the handler's own transaction, so that it happens once even after a crash. */
  readonly finishTx: (tx: Transaction) => Promise<void>;
}

/** @throws JobFailure, or any other error, which counts as a failure of this work alone */
export type Handler = (work: Job) => Promise<void>;

/** Why work couldn't be done, and what that says about the rest. */
export class JobFailure extends Error {
  /** `work`: try it again; `queue`: the way is blocked, all in the queue waits; `final`: it can never succeed. */
  readonly scope: 'job' | 'queue' | 'final';

  constructor(message: string, scope: 'job' | 'queue' | 'final', options?: ErrorOptions) {
    super(message, options);
    this.scope = scope;
  }
}

export interface OutboxOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly seal: Sealer;
  /** Of {@link Outbox.delayed}; none unless given. */
  readonly delayMsMax?: number;
  /** Job that failed and is tried again, or was given up. */
  readonly onFailure?: (failure: {
    kind: string;
    id: string;
    attempts: number;
    isFinal: boolean;
    error: unknown;
  }) => void;
}

const lookEveryMs = 1_000;
/** How long the work of a process that died waits for another. A process renews the claims of what it is working on. */
const claimMs = 15_000;
const renewEveryMs = 5_000;
const perQueueMax = 4;
const retryMsFirst = 5_000;
const retryMsMax = 3_600_000;
/** A blocked way is tried again this often at least. */
const holdMsMax = 300_000;
const errorCharsMax = 500;
/** Whoever waits for more need not know how many. */
const countedRowsMax = 10_000;

/** How often each thing happened in this process, for the metrics. */
export interface JobCounts {
  done: number;
  /** Tried again later. */
  failed: number;
  givenUp: number;
}

export interface WaitingJobs {
  readonly kind: string;
  /** At most 10,000 of all kinds together are counted. */
  readonly count: number;
  readonly oldestMs: number;
}

/** A queue whose way is blocked, as this process found it. */
interface Hold {
  readonly until: number;
  readonly times: number;
}

export class Outbox {
  /** By kind. */
  readonly counts = new Map<string, JobCounts>();
  readonly #options: OutboxOptions;
  readonly #handlers = new Map<string, Handler>();
  /** By the id of the work. */
  readonly #running = new Map<string, { readonly queue: string; readonly ended: Promise<void> }>();
  readonly #holds = new Map<string, Hold>();
  #lastQueue = '';
  #renewAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = true;
  /** Told once, not every second. */
  #isUnreachable = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Begun here and not ended. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** What waits in the database, whoever is to do it, and for how long the oldest of each kind. */
  async waiting(): Promise<readonly WaitingJobs[]> {
    const { db, clock } = this.#options;
    const rows = await store.countJobs(db, countedRowsMax);
    return rows.map(({ kind, waiting: count, oldestAt }) => ({ kind, count, oldestMs: clock.now() - oldestAt }));
  }

  handle(kind: JobKind, handler: Handler): void {
    this.#handlers.set(kind, handler);
  }

  /** A row for a store to insert in its transaction. @param id when it must be done once for something that has one */
  prepare(kind: JobKind, queue: string, payload: unknown, id: string = randomId('msg')): store.NewJobRow {
    const now = this.#options.clock.now();
    const sealed = this.#options.seal.seal(id, JSON.stringify(payload));
    return { id, kind, queue, payload: sealed, createdAt: now, dueAt: now };
  }

  /** The same row, due after a random delay, so that its time says nothing about the request that caused it. */
  delayed(row: store.NewJobRow): store.NewJobRow {
    const { delayMsMax = 0 } = this.#options;
    return { ...row, dueAt: row.dueAt + randomInt(delayMsMax + 1) };
  }

  /** Until `stop`. */
  start(): void {
    this.#isStopped = false;
    this.#timer = setInterval(() => this.pollSoon(), lookEveryMs).unref();
    this.pollSoon();
  }

  /** After a commit: nobody waits for the next look. */
  pollSoon(): void {
    if (this.#isStopped) return;
    if (this.#looking) this.#isAskedAgain = true;
    else this.#looking = runAsSystem(() => this.#look());
  }

  /** Begins nothing more, and finishes what is under way, for a bounded time. */
  async stop(msMax = 5_000): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const ended = (async () => {
      await this.#looking;
      await Promise.all([...this.#running.values()].map((work) => work.ended));
    })();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, msMax)))]);
    clearTimeout(timer);
  }

  /** Never rejects: what can't be looked at now is looked at again. */
  async #look(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      try {
        await this.#beginDue();
        this.#isUnreachable = false;
      } catch (error) {
        if (!this.#isUnreachable)
          this.#options.onFailure?.({ kind: 'any', id: '', attempts: 0, isFinal: false, error });
        this.#isUnreachable = true;
      }
    } while (this.#isAskedAgain && !this.#isStopped);
    this.#looking = undefined;
  }

  /** Without it another process would begin, after {@link claimMs}, what is still under way here. */
  async #renewClaims(now: number): Promise<void> {
    if (this.#running.size === 0 || now < this.#renewAt) return;
    await store.renewClaims(this.#options.db, [...this.#running.keys()], now + claimMs);
    this.#renewAt = now + renewEveryMs;
  }

  /** Some of each queue, as far as there is room; where it ends, the next look goes on. */
  async #beginDue(): Promise<void> {
    const { db, clock } = this.#options;
    const now = clock.now();
    await this.#renewClaims(now);
    const queues = (await store.findDueQueues(db, now)).filter((queue) => (this.#holds.get(queue)?.until ?? 0) <= now);
    const inTurn = [
      ...queues.filter((queue) => queue > this.#lastQueue),
      ...queues.filter((queue) => queue <= this.#lastQueue),
    ];
    for (const queue of inTurn) {
      const max = this.#room(queue);
      if (max <= 0) continue;
      const rows = await store.claimJob(db, queue, { now, claimedUntil: now + claimMs, max });
      for (const row of rows) await this.#begin(row);
      this.#lastQueue = queue;
    }
  }

  /** Each group of queues has slots of its own: slow webhook receivers take none from mail. */
  #room(queue: string): number {
    const runningCount = [...this.#running.values()];
    const inGroup = runningCount.filter((work) => groupOf(work.queue) === groupOf(queue)).length;
    const inQueue = runningCount.filter((work) => work.queue === queue).length;
    return Math.min(limits.outboxUnderWayMax - inGroup, perQueueMax - inQueue);
  }

  async #begin(row: store.JobRow): Promise<void> {
    // Meanwhile it was told to stop: another may do it at once.
    if (this.#isStopped) return store.releaseJob(this.#options.db, row.id);
    // Its claim has ended while this process is at it still: it is claimed anew, not begun twice.
    if (this.#running.has(row.id)) return;
    const ended = this.#do(row).finally(() => {
      this.#running.delete(row.id);
      this.pollSoon();
    });
    // Before the first renewal is due, and no later than others would find the claim of the oldest expired.
    if (this.#running.size === 0) this.#renewAt = this.#options.clock.now() + renewEveryMs;
    this.#running.set(row.id, { queue: row.queue, ended });
  }

  /** Never rejects. */
  async #do(row: store.JobRow): Promise<void> {
    const { db, seal } = this.#options;
    const { id, kind, queue, createdAt, attempts } = row;
    try {
      const handler = this.#handlers.get(kind);
      // An instance of another version, or of another configuration, may know it.
      if (!handler) throw new JobFailure(`nothing here does ${kind}`, 'job');
      const payload: unknown = JSON.parse(seal.open(id, row.payload));
      await handler({ id, payload, createdAt, attempts, finishTx: (tx) => store.removeJob(tx, id) });
      await db.transaction((tx) => store.removeJob(tx, id));
      this.#holds.delete(queue);
      this.#count(kind, 'done');
    } catch (error) {
      // A failure to record a failure is none: the claim ends by itself.
      await this.#fail(row, error).catch(() => undefined);
    }
  }

  async #fail({ id, kind, queue, createdAt, attempts }: store.JobRow, error: unknown): Promise<void> {
    const { db, clock, onFailure } = this.#options;
    const now = clock.now();
    const scope = error instanceof JobFailure ? error.scope : 'job';
    const isFinal = scope === 'final' || now - createdAt > limits.outboxKeptDays * 86_400_000;
    this.#count(kind, isFinal ? 'givenUp' : 'failed');
    onFailure?.({ kind, id, attempts, isFinal, error });
    if (isFinal) return db.transaction((tx) => store.removeJob(tx, id));
    const dueAt = scope === 'queue' ? this.#hold(queue, now) : now + waitMs(attempts, retryMsMax);
    const text = (error instanceof Error ? error.message : String(error)).slice(0, errorCharsMax);
    await store.postponeJob(db, id, dueAt, text);
  }

  /**
   * Known to this process alone: a row for each that waits would have to be written again and again.
   * @returns when the queue is tried again
   */
  #hold(queue: string, now: number): number {
    const hold = this.#holds.get(queue);
    // Several were under way when the way was found blocked: that is one failure of it.
    if (hold && hold.until > now) return hold.until;
    const times = (hold?.times ?? 0) + 1;
    const until = now + waitMs(times, holdMsMax);
    this.#holds.set(queue, { until, times });
    return until;
  }

  #count(kind: string, what: keyof JobCounts): void {
    const counts = this.counts.get(kind) ?? { done: 0, failed: 0, givenUp: 0 };
    counts[what]++;
    this.counts.set(kind, counts);
  }
}

/** The name of a queue before the first colon: all `webhook:…` queues are one group. */
const groupOf = (queue: string): string => queue.split(':', 1)[0] ?? queue;

/** Twice as long after each attempt. */
const waitMs = (attempts: number, msMax: number): number =>
  Math.min(msMax, retryMsFirst * 2 ** Math.min(attempts - 1, 20));
