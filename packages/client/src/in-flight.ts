/**
 * How many batches are in flight. Questions that wait join a batch, so two batches are enough until full batches wait. Then the limit
 * follows the service: as many as let a full batch take twice as long as with two in flight.
 */

const min = 2;
const max = 16;
/** Longer durations show that requests wait in the service or in a proxy. */
const slowFactor = 2;

export interface Flight {
  readonly startedMs: number;
  readonly isFull: boolean;
  /** Batches in flight, with this one. */
  readonly count: number;
}

export class InFlight {
  #count = 0;
  #limit = min;
  /** Duration of a full batch, with at most two in flight. */
  #baseMs = 0;
  /** Duration of the last batch that the service has answered. 0 before the first one. */
  #lastMs = 0;

  get lastMs(): number {
    return this.#lastMs;
  }

  /** @param fullWaits whether a batch that is full waits */
  canStart(fullWaits: boolean): boolean {
    return this.#count < (fullWaits ? this.#limit : min);
  }

  start(startedMs: number, isFull: boolean): Flight {
    return { startedMs, isFull, count: ++this.#count };
  }

  /** @param endedMs undefined if the service has not answered with results */
  end(flight: Flight, endedMs: number | undefined, fullWaits: boolean): void {
    this.#count--;
    if (endedMs !== undefined) this.#lastMs = endedMs - flight.startedMs;
    if (endedMs === undefined) this.#set(this.#limit / 2);
    else if (!fullWaits) this.#set(this.#limit - 1);
    else if (flight.isFull) this.#follow(flight.count);
  }

  /** @param count of batches in flight when the last one started */
  #follow(count: number): void {
    if (count <= min) this.#baseMs = this.#lastMs;
    // By Little's law, a service that works on one batch at a time gets four.
    this.#set(this.#lastMs === 0 ? max : (count * slowFactor * this.#baseMs) / this.#lastMs);
  }

  #set(limit: number): void {
    this.#limit = Math.max(min, Math.min(max, Math.floor(limit)));
  }
}
