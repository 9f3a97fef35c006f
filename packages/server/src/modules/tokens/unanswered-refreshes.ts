/**
 * Refreshes without a response: the server returned 503, or the connection closed before the response was written. The
 * client's token may have been replaced, and the client can only present it again. The server treats such a retry as if it
 * had arrived at the first failure, however long the outage lasts (docs/decisions/09-sign-in.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';

const retryMsFirst = 50;
const retryMsMax = 1_000;

export interface UnansweredRefresh {
  /** Session and generation of the presented token. */
  readonly sessionId: string;
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** True after a 503, false after a closed connection. */
  readonly isOutage: boolean;
}

interface Entry {
  readonly generation: number;
  /** When the token's first refresh failed, in milliseconds since 1970. */
  readonly failedAt: number;
  /** Expiry on the monotonic clock; infinity until the database answers again. */
  endsMs: number;
}

export interface UnansweredRefreshesOptions {
  /** Fails while the database cannot be reached. */
  readonly ping: () => Promise<void>;
  /** Milliseconds on a monotonic clock. */
  readonly monotonic?: () => number;
}

export class UnansweredRefreshes {
  readonly #options: Required<UnansweredRefreshesOptions>;
  /** One entry per session, because only the predecessor of the current token can be presented again. */
  readonly #bySession = new Map<string, Entry>();
  #recovered: Promise<void> | undefined;

  constructor(options: UnansweredRefreshesOptions) {
    this.#options = { monotonic: monotonicMs, ...options };
  }

  /** The number of entries. */
  get size(): number {
    return this.#bySession.size;
  }

  /** Resolves once the database has answered since the last failure. */
  get recovered(): Promise<void> {
    return this.#recovered ?? Promise.resolve();
  }

  record({ sessionId, generation, failedAt, isOutage }: UnansweredRefresh): void {
    const entry = this.#find(sessionId);
    if (entry && entry.generation >= generation) {
      // A client can close its connections at will, so that must not extend the entry. It cannot cause a 503.
      if (entry.generation > generation || !isOutage || entry.endsMs === Number.POSITIVE_INFINITY) return;
      entry.endsMs = Number.POSITIVE_INFINITY;
    } else {
      if (this.#bySession.size >= limits.unansweredRefreshesMax) this.#deleteExpired();
      // A flood of refreshes must not displace earlier entries.
      if (!entry && this.#bySession.size >= limits.unansweredRefreshesMax) return;
      this.#bySession.set(sessionId, { generation, failedAt, endsMs: Number.POSITIVE_INFINITY });
    }
    this.#recovered ??= this.#waitForDatabase();
  }

  /** @returns when this token's first refresh failed, in milliseconds since 1970; undefined without an entry */
  failedAt({ sessionId, generation }: Pick<UnansweredRefresh, 'sessionId' | 'generation'>): number | undefined {
    const entry = this.#find(sessionId);
    return entry?.generation === generation ? entry.failedAt : undefined;
  }

  #find(sessionId: string): Entry | undefined {
    const entry = this.#bySession.get(sessionId);
    if (!entry || entry.endsMs > this.#options.monotonic()) return entry;
    this.#bySession.delete(sessionId);
    return undefined;
  }

  #deleteExpired(): void {
    const nowMs = this.#options.monotonic();
    for (const [sessionId, { endsMs }] of this.#bySession) if (endsMs <= nowMs) this.#bySession.delete(sessionId);
  }

  /** Pings the database until it answers. The lifetime of all entries starts then. */
  async #waitForDatabase(): Promise<void> {
    for (let ms = retryMsFirst; ; ms = Math.min(retryMsMax, 2 * ms)) {
      try {
        await this.#options.ping();
        break;
      } catch {
        // Does not keep a stopping process alive.
        await sleep(ms, undefined, { ref: false });
      }
    }
    const endsMs = this.#options.monotonic() + limits.unansweredRefreshSeconds * 1000;
    for (const entry of this.#bySession.values()) entry.endsMs = Math.min(entry.endsMs, endsMs);
    this.#recovered = undefined;
  }
}
