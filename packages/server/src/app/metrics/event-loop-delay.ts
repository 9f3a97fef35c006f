/** The longest delay of the event loop, since the last reading or in a period that has just passed. */
import { monotonicMs } from '../../foundation/clock.ts';

/** A delay that begins between two samples is reported up to this much too short. */
const intervalMs = 10;
/** A rolling maximum covers this many parts: the current one and those before it. */
const parts = 6;

/** Replaces `monitorEventLoopDelay` of Node, which does not record a delay during which it is reset. */
export class EventLoopDelay {
  #sampledMs = monotonicMs();
  #maxMs = 0;
  readonly #recent: RollingMax | undefined;
  readonly #timer = setInterval(() => this.#sample(), intervalMs).unref();

  /** @param recent also receives each delay */
  constructor(recent?: RollingMax) {
    this.#recent = recent;
  }

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
    const delayMs = now - this.#sampledMs - intervalMs;
    this.#maxMs = Math.max(this.#maxMs, delayMs);
    this.#recent?.add(delayMs, now);
    this.#sampledMs = now;
  }
}

/** The maximum of the values of a period. Reading it changes nothing, so several readers see the same values. */
export class RollingMax {
  readonly #partMs: number;
  readonly #maxima: number[] = Array.from({ length: parts }, () => 0);
  #part = 0;

  /** @param periodMs a value counts for at least five sixths of it, and at most for all of it */
  constructor(periodMs: number) {
    this.#partMs = periodMs / parts;
  }

  /** @param now monotonic milliseconds */
  add(value: number, now: number): void {
    this.#advance(now);
    const index = this.#part % parts;
    this.#maxima[index] = Math.max(this.#maxima[index] ?? 0, value);
  }

  at(now: number): number {
    this.#advance(now);
    return Math.max(...this.#maxima);
  }

  /** Forgets the parts that the period has left. */
  #advance(now: number): void {
    const part = Math.floor(now / this.#partMs);
    for (let next = Math.max(this.#part + 1, part - parts + 1); next <= part; next++) this.#maxima[next % parts] = 0;
    this.#part = Math.max(this.#part, part);
  }
}
