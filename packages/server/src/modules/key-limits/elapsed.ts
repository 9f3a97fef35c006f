/**
 * The time by which drawn tokens expire. The monotonic clock stops while a machine is suspended, but the wall clock is ahead
 * afterwards. So a step of the wall clock counts too: a wrong one only makes tokens expire early.
 */
import type { Clock } from '../../foundation/clock.ts';

/** Milliseconds. Smaller differences between two readings come from rounding and from the adjustment of the wall clock. */
const stepMin = 100;

export class Elapsed {
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  /** Of the wall clock from the monotonic one, at the last reading. */
  #distance = Infinity;
  #skipped = 0;

  constructor(clock: Clock, monotonicMs: () => number) {
    this.#clock = clock;
    this.#monotonicMs = monotonicMs;
  }

  /** @param wall the time of the wall clock @returns milliseconds, which never go back */
  ms(wall = this.#clock.now()): number {
    const now = this.#monotonicMs();
    const distance = wall - now;
    if (distance >= this.#distance + stepMin) this.#skipped += distance - this.#distance;
    this.#distance = distance;
    return now + this.#skipped;
  }
}
