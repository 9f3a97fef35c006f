/** Timers that only the test advances, for code that handles connections in the time between. */
import { setImmediate } from 'node:timers/promises';
import type { Timers } from '../src/foundation/clock.ts';

/** Time passes only in `pass` and `pause`. */
export class SteppedTimers implements Timers {
  #now = 0;
  #sleeps: { readonly endsMs: number; readonly end: () => void }[] = [];

  monotonicMs(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((end) => this.#sleeps.push({ endsMs: this.#now + ms, end }));
  }

  /** In steps, between which the process handles its connections. */
  async pass(ms: number): Promise<void> {
    for (const endMs = this.#now + ms; this.#now < endMs;) {
      await this.pause(Math.min(10, endMs - this.#now));
    }
  }

  /** The process does not run for this time. */
  async pause(ms: number): Promise<void> {
    this.#now += ms;
    const ended = this.#sleeps.filter(({ endsMs }) => endsMs <= this.#now);
    this.#sleeps = this.#sleeps.filter((sleep) => !ended.includes(sleep));
    for (const { end } of ended) end();
    await turn();
  }
}

/** Several turns of the event loop. */
async function turn(): Promise<void> {
  for (let count = 0; count < 5; count++) await setImmediate();
}
