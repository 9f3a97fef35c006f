/**
 * The outbox: jobs that must run if and only if a transaction commits, and whose duration must not show in a response.
 * The transaction writes the job's row, and any instance runs the job afterwards. After a crash a job runs again, so
 * messages carry the row's id.
 */
import { randomInt } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs, systemTimers, type Timers } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { runAsSystem } from '../../foundation/database/share.ts';
import { Sampling } from '../../foundation/tracing.ts';
import { JobFailure, LostJob, type Handler, type Job, type JobKind } from './job.ts';
import * as store from './store.ts';
import { recorded, startSpan, withTrace } from './traces.ts';

export interface OutboxOptions extends Core {
  /** Measures the waits of a stop. */
  readonly timers?: Timers;
  readonly seal: Sealer;
  /** The longest delay of {@link Outbox.delayed}; 0 by default. */
  readonly delayMsMax?: number;
  /** The share of jobs that are recorded although no recorded request has written them: 0 to 1. Default 0. */
  readonly traceRatio?: number;
  /** Called for each failed attempt. The job is retried unless `isFinal`. */
  readonly onFailure?:
    | ((failure: { kind: string; id: string; attempts: number; isFinal: boolean; error: unknown }) => void)
    | undefined;
}

/** The service starts jobs immediately. An older job has failed repeatedly, or no process runs jobs. */
export const jobLateMs = 900_000;

const pollEveryMs = 1_000;
/**
 * After this time another process may claim the jobs of a dead process. A live one renews the claims of its running
 * jobs.
 */
const claimMs = 15_000;
const renewEveryMs = 5_000;
const perQueueMax = 4;
const retryMsFirst = 5_000;
const retryMsMax = 3_600_000;
/** After an attempt whose outcome is unknown. */
const repeatMs = 3_600_000;
/** Attempts whose outcome is unknown. */
const handOversMax = 2;
/** A stop waits so long for jobs whose outcome is unknown: a mail server usually replies sooner. */
const waitingStopMs = 1_000;
/** The longest pause of a queue. */
const pauseMsMax = 300_000;
const errorCharsMax = 500;
/** Bounds the cost of the count. */
const countedRowsMax = 10_000;

/** Counts of this process, for the metrics. */
export interface JobCounts {
  done: number;
  /** Attempts that are retried. */
  failed: number;
  givenUp: number;
}

export interface WaitingJobs {
  readonly kind: string;
  /** At most 10,000 of all kinds together are counted. */
  readonly count: number;
  readonly oldestMs: number;
}

interface RunningJob {
  readonly queue: string;
  ended: Promise<void>;
  /** Takes no slot. */
  isWaiting: boolean;
}

/** A pause of a queue. */
interface Pause {
  readonly until: number;
  /** How many pauses followed one another. */
  readonly count: number;
}

export class Outbox {
  /** By kind. */
  readonly counts = new Map<string, JobCounts>();
  readonly #options: OutboxOptions;
  readonly #sampling: Sampling;
  readonly #handlers = new Map<string, Handler>();
  /** By job id. */
  readonly #running = new Map<string, RunningJob>();
  readonly #pauses = new Map<string, Pause>();
  #lastQueue = '';
  #renewAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #isPollRequested = false;
  #isStopped = true;
  /** Failures to read the database are reported once, not every second. */
  #isUnreachable = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#sampling = new Sampling(options.traceRatio ?? 0);
  }

  /** Jobs that run in this process. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Counts the jobs in the database by kind, and the age of the oldest. */
  async waiting(): Promise<readonly WaitingJobs[]> {
    const { db, clock } = this.#options;
    const rows = await store.countJobs(db, countedRowsMax);
    return rows.map(({ kind, waiting: count, oldestAt }) => ({ kind, count, oldestMs: clock.now() - oldestAt }));
  }

  handle(kind: JobKind, handler: Handler): void {
    this.#handlers.set(kind, handler);
  }

  /** Makes a row for a store to insert in its transaction. @param id given when the job must exist only once */
  prepare(kind: JobKind, queue: string, payload: unknown, id: string = randomId('msg')): store.NewJobRow {
    const now = this.#options.clock.now();
    const sealed = this.#options.seal.seal(id, JSON.stringify(withTrace(payload)));
    return { id, kind, queue, payload: sealed, createdAt: now, dueAt: now };
  }

  /** The same row, due after a random delay, so that its time reveals nothing about the request that caused it. */
  delayed(row: store.NewJobRow): store.NewJobRow {
    const { delayMsMax = 0 } = this.#options;
    return { ...row, dueAt: row.dueAt + randomInt(delayMsMax + 1) };
  }

  /** Runs until `stop`. */
  start(): void {
    this.#isStopped = false;
    this.#timer = setInterval(() => this.pollSoon(), pollEveryMs).unref();
    this.pollSoon();
  }

  /** Called after a commit, so that the job need not wait for the next poll. */
  pollSoon(): void {
    if (this.#isStopped) return;
    if (this.#polling) this.#isPollRequested = true;
    else this.#polling = runAsSystem(() => this.#poll());
  }

  /**
   * Starts no further jobs. Resolves when the running ones have ended, at the latest after `msMax`. For jobs that wait for
   * another system it waits a second: their rows state already when they are repeated.
   */
  async stop(msMax = 5_000): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const { timers = systemTimers } = this.#options;
    const passed = (ms: number): Promise<void> => timers.sleep(Math.min(ms, msMax), { isRef: false });
    const ended = (jobs: readonly RunningJob[]): Promise<unknown> => Promise.all(jobs.map((job) => job.ended));
    const hasWaited = passed(waitingStopMs);
    const isDone = (async () => {
      await this.#polling;
      const jobs = [...this.#running.values()];
      const waiting = jobs.filter(({ isWaiting }) => isWaiting);
      const others = ended(jobs.filter(({ isWaiting }) => !isWaiting));
      await Promise.all([others, Promise.race([ended(waiting), hasWaited])]);
    })();
    await Promise.race([isDone, passed(msMax)]);
  }

  /** Never rejects: a failed poll is repeated by the next one. */
  async #poll(): Promise<void> {
    do {
      this.#isPollRequested = false;
      try {
        await this.#startDue();
        this.#isUnreachable = false;
      } catch (error) {
        if (!this.#isUnreachable)
          this.#options.onFailure?.({ kind: 'any', id: '', attempts: 0, isFinal: false, error });
        this.#isUnreachable = true;
      }
    } while (this.#isPollRequested && !this.#isStopped);
    this.#polling = undefined;
  }

  /** Without renewal, another process would start a running job after {@link claimMs}. */
  async #renewClaims(now: number): Promise<void> {
    if (this.#running.size === 0 || now < this.#renewAt) return;
    await store.renewClaims(this.#options.db, [...this.#running.keys()], now + claimMs);
    this.#renewAt = now + renewEveryMs;
  }

  /** Starts due jobs of each queue, within the limits. The next poll continues after the last queue of this one. */
  async #startDue(): Promise<void> {
    const { db, clock } = this.#options;
    const now = clock.now();
    await this.#renewClaims(now);
    const queues = (await store.findDueQueues(db, now)).filter((queue) => (this.#pauses.get(queue)?.until ?? 0) <= now);
    const inTurn = [
      ...queues.filter((queue) => queue > this.#lastQueue),
      ...queues.filter((queue) => queue <= this.#lastQueue),
    ];
    for (const queue of inTurn) {
      const max = this.#freeSlots(queue);
      if (max <= 0) continue;
      const rows = await store.claimJobs(db, queue, { now, claimedUntil: now + claimMs, max });
      for (const row of rows) await this.#start(row);
      this.#lastQueue = queue;
    }
  }

  /** Each group of queues has slots of its own: slow webhook receivers take none from mail. */
  #freeSlots(queue: string): number {
    const running = [...this.#running.values()].filter(({ isWaiting }) => !isWaiting);
    const inGroup = running.filter((job) => groupOf(job.queue) === groupOf(queue)).length;
    const inQueue = running.filter((job) => job.queue === queue).length;
    return Math.min(limits.outboxUnderWayMax - inGroup, perQueueMax - inQueue);
  }

  async #start(row: store.JobRow): Promise<void> {
    // `stop` was called meanwhile: another process may run the job immediately.
    if (this.#isStopped) return store.releaseJob(this.#options.db, row.id);
    // The claim expired during the job. The job is claimed again, but not started twice.
    if (this.#running.has(row.id)) return;
    // The renewal of the first running job is due before its claim expires.
    if (this.#running.size === 0) this.#renewAt = this.#options.clock.now() + renewEveryMs;
    const job: RunningJob = { queue: row.queue, ended: Promise.resolve(), isWaiting: false };
    // First, because the handler may free its slot immediately.
    this.#running.set(row.id, job);
    job.ended = this.#run(row).finally(() => {
      this.#running.delete(row.id);
      this.pollSoon();
    });
  }

  /** Beyond the bound, the job keeps its slot, so the number of connections is bounded. */
  #freeSlot(id: string): void {
    const job = this.#running.get(id);
    if (!job || job.isWaiting) return;
    const waiting = [...this.#running.values()].filter(({ isWaiting }) => isWaiting);
    if (waiting.length >= limits.outboxWaitingMax) return;
    job.isWaiting = true;
    this.pollSoon();
  }

  async #handOver(row: store.JobRow, changeTx?: (tx: Transaction) => Promise<void>): Promise<void> {
    const { db, clock } = this.#options;
    await db.transaction(async (tx) => {
      if (!(await store.handOverJobTx(tx, row, clock.now() + repeatMs)))
        throw new LostJob('another process has the job, or it was removed');
      await changeTx?.(tx);
    });
    this.#freeSlot(row.id);
  }

  /** Never rejects. */
  async #run(row: store.JobRow): Promise<void> {
    const { db, seal } = this.#options;
    const { id, kind, queue, createdAt, attempts } = row;
    let isHandedOver = false;
    let isHandled = false;
    try {
      if (row.handedOver >= handOversMax) throw new JobFailure('the outcome of two attempts is unknown', 'final');
      const handler = this.#handlers.get(kind);
      // An instance of another version or configuration may have a handler.
      if (!handler) throw new JobFailure(`no handler for ${kind}`, 'job');
      const payload: unknown = JSON.parse(seal.open(id, row.payload));
      const job: Job = {
        id,
        payload,
        createdAt,
        attempts,
        finishTx: (tx) => store.removeJobTx(tx, id),
        handOver: async (changeTx) => {
          await this.#handOver(row, changeTx);
          isHandedOver = true;
        },
        freeSlot: () => this.#freeSlot(id),
      };
      const changeTx = await recorded(startSpan(this.#sampling, kind, payload), attempts, () => handler(job));
      isHandled = true;
      await db.transaction(async (tx) => {
        await store.removeJobTx(tx, id);
        await changeTx?.(tx);
      });
      this.#pauses.delete(queue);
      this.#count(kind, 'done');
    } catch (error) {
      // The effect has happened, but a crash of the database may have kept the row: an early repetition would be a second effect.
      const failure =
        isHandled && isHandedOver
          ? new JobFailure('the job is done, but is still stored', 'unknown', { cause: error })
          : error;
      // If the failure cannot be recorded, the claim expires.
      await this.#fail(row, failure).catch(() => undefined);
    }
  }

  async #fail(row: store.JobRow, error: unknown): Promise<void> {
    const { db, clock, onFailure } = this.#options;
    const { id, kind, queue, createdAt, attempts } = row;
    const now = clock.now();
    const scope = error instanceof JobFailure ? error.scope : 'job';
    const handedOver = row.handedOver + (scope === 'unknown' ? 1 : 0);
    const isTooOld = now - createdAt > limits.outboxKeptDays * dayMs;
    const isFinal = scope === 'final' || handedOver >= handOversMax || isTooOld;
    this.#count(kind, isFinal ? 'givenUp' : 'failed');
    onFailure?.({ kind, id, attempts, isFinal, error });
    if (error instanceof LostJob) return;
    if (isFinal) return db.transaction((tx) => store.removeJobTx(tx, id));
    const dueAt =
      scope === 'queue'
        ? this.#pause(queue, now)
        : now + (scope === 'unknown' ? repeatMs : waitMs(attempts, retryMsMax));
    const text = (error instanceof Error ? error.message : String(error)).slice(0, errorCharsMax);
    await store.postponeJob(db, { id, handedOver }, dueAt, text);
  }

  /**
   * Pauses a queue in this process only: to store the pause, each row of the queue would have to be written each time.
   * @returns when the pause ends
   */
  #pause(queue: string, now: number): number {
    const pause = this.#pauses.get(queue);
    // Several jobs of the queue ran at the same time: their failures count once.
    if (pause && pause.until > now) return pause.until;
    const count = (pause?.count ?? 0) + 1;
    const until = now + waitMs(count, pauseMsMax);
    this.#pauses.set(queue, { until, count });
    return until;
  }

  #count(kind: string, what: keyof JobCounts): void {
    const counts = this.counts.get(kind) ?? { done: 0, failed: 0, givenUp: 0 };
    counts[what]++;
    this.counts.set(kind, counts);
  }
}

/** The part of a queue's name before the first colon: all `webhook:…` queues are one group. */
const groupOf = (queue: string): string => queue.split(':', 1)[0] ?? queue;

/** Doubles with each attempt. */
const waitMs = (attempts: number, msMax: number): number =>
  Math.min(msMax, retryMsFirst * 2 ** Math.min(attempts - 1, 20));
