/** The longest delay of the event loop since the last reading. */
import { monotonicMs } from '../foundation/clock.ts';

/** A delay that begins between two samples is reported up to this much too short. */
const intervalMs = 10;

/** Replaces `monitorEventLoopDelay` of Node, which does not record a delay during which it is reset. */
export class EventLoopDelay {
  #sampledMs = monotonicMs();
  #maxMs = 0;
  readonly #timer = setInterval(() => this.#sample(), intervalMs).unref();

  /** Starts a new period. @returns milliseconds */
  takeMaxMs(): number {
    const max = this.#maxMs;
    this.#maxMs = 0;
    return max;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const now = monotonicMs();
    this.#maxMs = Math.max(this.#maxMs, now - this.#sampledMs - intervalMs);
    this.#sampledMs = now;
  }
}
