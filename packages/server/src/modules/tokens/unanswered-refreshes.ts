/**
 * Refreshes that this server could not answer: it returned 503, or the connection was gone before the response was
 * written. Such a client holds a token that may have been replaced, and can only present it again. That is judged as of
 * the first failure, however long the outage lasted (docs/decisions/0005-refresh-tokens.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';

const retryMsFirst = 50;
const retryMsMax = 1_000;

export interface UnansweredRefresh {
  /** Of the token that was presented. */
  readonly sessionId: string;
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** Whether it got a 503; otherwise its connection was gone. */
  readonly isOutage: boolean;
}

interface Unanswered {
  readonly generation: number;
  /** Milliseconds since 1970, when the first of its refreshes failed. */
  readonly failedAt: number;
  /** On the monotonic clock; unlimited until the database answers again. */
  endsMs: number;
}

export interface UnansweredRefreshesOptions {
  /** Fails while the database cannot be reached. */
  readonly ping: () => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly monotonic?: () => number;
}

export class UnansweredRefreshes {
  /** Called for each new entry: the other workers of this server keep the same record. */
  onNote: (unanswered: UnansweredRefresh) => void = () => undefined;
  readonly #options: Required<UnansweredRefreshesOptions>;
  /** By session; one entry each, because only the token before the current one can be presented again. */
  readonly #bySession = new Map<string, Unanswered>();
  #settled: Promise<void> | undefined;

  constructor(options: UnansweredRefreshesOptions) {
    this.#options = { monotonic: monotonicMs, ...options };
  }

  /** How many are kept. */
  get size(): number {
    return this.#bySession.size;
  }

  /** Resolves once the database has answered since the last failure. */
  get settled(): Promise<void> {
    return this.#settled ?? Promise.resolve();
  }

  /** Keeps it and passes it on. */
  note(unanswered: UnansweredRefresh): void {
    if (this.keep(unanswered)) this.onNote(unanswered);
  }

  /** @returns whether it is news */
  keep({ sessionId, generation, failedAt, isOutage }: UnansweredRefresh): boolean {
    const known = this.#find(sessionId);
    if (known && known.generation >= generation) {
      // A client can drop its own connections for ever, and must not prolong anything by that. A 503 it can't cause.
      if (known.generation > generation || !isOutage || known.endsMs === Number.POSITIVE_INFINITY) return false;
      known.endsMs = Number.POSITIVE_INFINITY;
    } else {
      if (this.#bySession.size >= limits.unansweredRefreshesMax) this.#forgetEnded();
      // Those that came first keep their place: a flood of refreshes drops no earlier client.
      if (!known && this.#bySession.size >= limits.unansweredRefreshesMax) return false;
      this.#bySession.set(sessionId, { generation, failedAt, endsMs: Number.POSITIVE_INFINITY });
    }
    this.#settled ??= this.#settle();
    return true;
  }

  /** @returns when this token's first refresh failed, in milliseconds since 1970; undefined when none did lately */
  failedAt({ sessionId, generation }: Pick<UnansweredRefresh, 'sessionId' | 'generation'>): number | undefined {
    const known = this.#find(sessionId);
    return known?.generation === generation ? known.failedAt : undefined;
  }

  #find(sessionId: string): Unanswered | undefined {
    const known = this.#bySession.get(sessionId);
    if (!known || known.endsMs > this.#options.monotonic()) return known;
    this.#bySession.delete(sessionId);
    return undefined;
  }

  #forgetEnded(): void {
    const nowMs = this.#options.monotonic();
    for (const [sessionId, { endsMs }] of this.#bySession) if (endsMs <= nowMs) this.#bySession.delete(sessionId);
  }

  /** Asks the database until it answers; the time of every entry begins then. */
  async #settle(): Promise<void> {
    for (let ms = retryMsFirst; ; ms = Math.min(retryMsMax, 2 * ms)) {
      try {
        await this.#options.ping();
        break;
      } catch {
        // A process that stops doesn't wait.
        await sleep(ms, undefined, { ref: false });
      }
    }
    const endsMs = this.#options.monotonic() + limits.unansweredRefreshSeconds * 1000;
    for (const entry of this.#bySession.values()) entry.endsMs = Math.min(entry.endsMs, endsMs);
    this.#settled = undefined;
  }
}
