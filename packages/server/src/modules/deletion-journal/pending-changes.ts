/**
 * Changes of unknown outcome: the connection broke between the commit and its response. Each change is retried until it
 * is known to have happened. Until then this instance answers 503 for the affected key or account.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { runAsCompletion } from '../../foundation/database/share.ts';
import { DomainError } from '../../foundation/errors.ts';

const retryMsFirst = 50;
const retryMsMax = 1_000;
const retryAfterSeconds = 1;
/** Longer than any read takes: a read that was sent before the change was finished may still return the old state. */
const settleMs = 10_000;

export interface PendingChange {
  /** Two pending changes of one id with the same kind do the same: one of them is enough. */
  readonly kind: string;
  /** What the change makes of the object, for {@link PendingChanges.statesOf}. */
  readonly after?: unknown;
  /** Makes the change unless it has happened already. Retried until it succeeds. */
  readonly finish: () => Promise<unknown>;
}

export interface PendingChangeOfId<Id> {
  readonly id: Id;
  readonly isPending: boolean;
}

/** The ids of pending changes, as a verification needs them. */
export interface PendingIds<Id extends string | number> {
  readonly isEmpty: boolean;
  /** Called before every positive answer. @throws DomainError `unavailable` when a change of this id is unfinished */
  assertNone(id: Id): void;
}

/** The pending changes of one id, in the order in which they were requested. */
interface Queue {
  readonly changes: PendingChange[];
  /** How many were added since the queue exists. */
  added: number;
  /** Whether the first change is being tried at the moment, or was made just now. */
  isTrying: boolean;
  /** Ends the wait after the last change when another one is added. */
  settling: AbortController | undefined;
  /** Resolves when every other process knows the id. */
  readonly published: Promise<void>;
}

/** @typeParam Id of a key or of an account */
export class PendingChanges<Id extends string | number> implements PendingIds<Id> {
  /** Called with each id that gets a pending change, or has none left. Resolves when every other process knows it. */
  publish: (change: PendingChangeOfId<Id>) => Promise<void> = () => Promise.resolve();
  readonly #queues = new Map<Id, Queue>();
  #count = 0;

  get ids(): Id[] {
    return [...this.#queues.keys()];
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** @throws DomainError `unavailable` when there is no room for one more */
  assertRoom(): void {
    if (this.#count >= limits.unfinishedDeletionsMax) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  assertNone(id: Id): void {
    if (this.#queues.size > 0 && this.#queues.has(id)) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  /** Resolves when every other process knows the ids that have pending changes now. */
  async published(): Promise<void> {
    await Promise.all(Array.from(this.#queues.values(), (queue) => queue.published));
  }

  /** What each unfinished change makes of the object, in the order of the requests, if it is known. */
  statesOf(id: Id): readonly unknown[] {
    return this.#queues.get(id)?.changes.flatMap(({ after }) => (after === undefined ? [] : [after])) ?? [];
  }

  /**
   * Changes of one id are finished one after another, in the order of these calls.
   * @returns false if the last waiting change does the same, and this one is not needed
   */
  add(id: Id, change: PendingChange): boolean {
    const queue = this.#queues.get(id);
    if (!queue) {
      const published = this.publish({ id, isPending: true });
      const started: Queue = { changes: [change], added: 1, isTrying: false, settling: undefined, published };
      this.#queues.set(id, started);
      this.#count++;
      void this.#finishAll(id, started);
      return true;
    }
    // The change that is being tried may have read the database already, so it doesn't cover this one.
    const waiting = queue.isTrying ? queue.changes.slice(1) : queue.changes;
    if (waiting.at(-1)?.kind === change.kind) return false;
    queue.changes.push(change);
    queue.added++;
    this.#count++;
    queue.settling?.abort();
    return true;
  }

  async #finishAll(id: Id, queue: Queue): Promise<void> {
    do {
      for (let change = queue.changes[0]; change; change = queue.changes[0]) {
        await finishOne(queue, change);
        queue.changes.shift();
        queue.isTrying = false;
      }
      queue.settling = new AbortController();
      // Rejects when another change is added meanwhile.
      await sleep(settleMs, undefined, { ref: false, signal: queue.settling.signal }).catch(() => undefined);
      queue.settling = undefined;
    } while (queue.changes.length > 0);
    this.#queues.delete(id);
    this.#count -= queue.added;
    void this.publish({ id, isPending: false });
  }
}

async function finishOne(queue: Queue, { finish }: PendingChange): Promise<void> {
  for (let ms = retryMsFirst; ; ms = Math.min(retryMsMax, 2 * ms)) {
    queue.isTrying = true;
    try {
      await runAsCompletion(finish);
      return;
    } catch {
      queue.isTrying = false;
    }
    // Any failure leaves the outcome unknown. The timer doesn't keep a stopping process alive.
    await sleep(ms, undefined, { ref: false });
  }
}
