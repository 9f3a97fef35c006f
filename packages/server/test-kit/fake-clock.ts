/** A clock that only the test advances. */
import type { Clock } from '../src/foundation/clock.ts';

export class FakeClock implements Clock {
  #now: number;

  constructor(start = Date.UTC(2026, 10, 21, 9, 30)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  advance({ seconds = 0, days = 0 }: { seconds?: number; days?: number }): void {
    this.#now += (seconds + days * 86_400) * 1000;
  }
}

/** Stands for the clock of a machine, as opposed to that of the database. */
export class MachineClock extends FakeClock {
  readonly isSystem = true;
}
