/**
 * The planned end of a PostgreSQL server. A server that is stopped for a switchover or a restart announces that to each
 * connection; one that crashes does not. After the announcement, operations wait for the next primary instead of failing. After
 * a crash they fail at once, because a proxy would hold requests for a primary that may never come.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { monotonicMs } from '../clock.ts';

const retryEveryMs = 50;
const adminShutdown = '57P01';

export class Handover {
  readonly #msMax: number;
  #untilMs = -Infinity;

  /** @param msMax from the announcement until operations cease to wait */
  constructor(msMax: number) {
    this.#msMax = msMax;
  }

  /** @param error of any connection, in use or idle */
  observe(error: unknown): void {
    const isAnnounced = error instanceof DatabaseError && error.code === adminShutdown;
    if (isAnnounced) this.#untilMs = monotonicMs() + this.#msMax;
  }

  /** When operations cease to wait, in monotonic milliseconds. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get isExpected(): boolean {
    return monotonicMs() < this.#untilMs;
  }

  /** Waits before another attempt. @returns false if no server has announced its end, or the next one takes too long */
  async mayRetry(): Promise<boolean> {
    if (!this.isExpected) return false;
    await sleep(retryEveryMs);
    return true;
  }
}
