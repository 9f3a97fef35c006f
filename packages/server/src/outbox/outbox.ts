/**
 * The outbox: work that must happen if and only if a transaction commits, and whose time must not show in an answer.
 * Its row is written in that transaction; afterwards any instance does the work, once or, after a crash, again: what is
 * sent carries the row's id.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../clock.ts';
import type { Sealer } from '../crypto/seal.ts';
import { randomId } from '../crypto/secret.ts';
import type { Db, Transaction } from '../db/db.ts';
import * as store from './store.ts';

/** What an outbox does, and the shape of each kind's payload is its handler's. */
export type WorkKind = 'mail' | 'sign_up' | 'password_reset' | 'webhook';

export interface Work {
  readonly id: string;
  readonly payload: unknown;
  readonly createdAt: number;
  /** This one included. */
  readonly attempts: number;
  /** Takes it out in the handler's own transaction, so that it happens once even after a crash. */
  readonly finishIn: (tx: Transaction) => Promise<void>;
}

/** @throws WorkFailure, or any other error, which counts as a failure of this work alone */
export type Handler = (work: Work) => Promise<void>;

/** Why work couldn't be done, and what that says about the rest. */
export class WorkFailure extends Error {
  /** `work`: try it again; `queue`: the way is blocked, all in the queue waits; `final`: it will never succeed. */
  readonly scope: 'work' | 'queue' | 'final';

  constructor(message: string, scope: 'work' | 'queue' | 'final', options?: ErrorOptions) {
    super(message, options);
    this.scope = scope;
  }
}

export interface OutboxOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly seal: Sealer;
  /** Work that failed and is tried again, or was given up. */
  readonly onFailure?: (failure: {
    kind: string;
    id: string;
    attempts: number;
    isFinal: boolean;
    error: unknown;
  }) => void;
}

const lookEveryMs = 1_000;
/** Longer than any handler may take. */
const claimMs = 120_000;
const perQueueMax = 4;
const retryMsFirst = 5_000;
const retryMsMax = 3_600_000;
const errorCharsMax = 500;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #handlers = new Map<string, Handler>();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = true;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  handle(kind: WorkKind, handler: Handler): void {
    this.#handlers.set(kind, handler);
  }

  /** A row for a store to insert in its transaction. @param id when it must be done once for something that has one */
  prepare(kind: WorkKind, queue: string, payload: unknown, id: string = randomId('msg')): store.NewWorkRow {
    const now = this.#options.clock.now();
    const sealed = this.#options.seal.seal(id, JSON.stringify(payload));
    return { id, kind, queue, payload: sealed, createdAt: now, dueAt: now };
  }

  /** Until `stop`. */
  start(): void {
    this.#isStopped = false;
    this.#timer = setInterval(() => this.lookSoon(), lookEveryMs).unref();
    this.lookSoon();
  }

  /** After a commit: nobody waits for the next look. */
  lookSoon(): void {
    if (this.#isStopped) return;
    if (this.#looking) this.#isAskedAgain = true;
    else void this.#look();
  }

  /** Finishes what is under way, for a bounded time. */
  async stop(msMax = 5_000): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const ended = (async () => {
      await this.#looking;
      await Promise.all(this.#running);
    })();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, msMax)))]);
    clearTimeout(timer);
  }

  async #look(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      this.#looking = this.#claim();
      await this.#looking;
      this.#looking = undefined;
    } while (this.#isAskedAgain && !this.#isStopped);
  }

  async #claim(): Promise<void> {
    if (this.#running.size >= limits.outboxUnderWayMax) return;
    const { db, clock } = this.#options;
    const now = clock.now();
    try {
      for (const row of await store.claimWork(db, now, now + claimMs, perQueueMax)) {
        const done = this.#do(row).finally(() => {
          this.#running.delete(done);
          this.lookSoon();
        });
        this.#running.add(done);
      }
    } catch (error) {
      this.#options.onFailure?.({ kind: 'any', id: '', attempts: 0, isFinal: false, error });
    }
  }

  async #do(row: store.WorkRow): Promise<void> {
    const { db, seal } = this.#options;
    const { id, kind, queue, createdAt, attempts } = row;
    try {
      const handler = this.#handlers.get(kind);
      // An instance of another version, or of another configuration, may know it.
      if (!handler) throw new WorkFailure(`nothing here does ${kind}`, 'work');
      const payload: unknown = JSON.parse(seal.open(id, row.payload));
      await handler({ id, payload, createdAt, attempts, finishIn: (tx) => store.removeWork(tx, id) });
      await db.transaction((tx) => store.removeWork(tx, id));
    } catch (error) {
      await this.#fail(row, queue, error).catch(() => undefined);
    }
  }

  /** A failure to record a failure is none: the claim ends by itself. */
  async #fail({ id, kind, createdAt, attempts }: store.WorkRow, queue: string, error: unknown): Promise<void> {
    const { db, clock, onFailure } = this.#options;
    const now = clock.now();
    const scope = error instanceof WorkFailure ? error.scope : 'work';
    const isFinal = scope === 'final' || now - createdAt > limits.outboxKeptDays * 86_400_000;
    onFailure?.({ kind, id, attempts, isFinal, error });
    if (isFinal) return db.transaction((tx) => store.removeWork(tx, id));
    const text = (error instanceof Error ? error.message : String(error)).slice(0, errorCharsMax);
    const waitMs = Math.min(retryMsMax, retryMsFirst * 2 ** Math.min(attempts - 1, 20));
    await store.postponeWork(db, id, now + waitMs, text, scope === 'queue' ? queue : undefined);
  }
}
