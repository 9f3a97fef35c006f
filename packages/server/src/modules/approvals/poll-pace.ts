/**
 * How fast programs poll (RFC 8628 section 3.5). In the memory of this process, so that a poll without result writes nothing: with
 * several instances, a program may poll each of them at its pace.
 */
import { limits } from '@keyreeve/contract';

interface Pace {
  readonly polledAt: number;
  readonly intervalMs: number;
}

const stepMs = limits.deviceIntervalSeconds * 1_000;

export class PollPace {
  /** By the hash of the device code; the least recently polled first. */
  readonly #paces = new Map<string, Pace>();
  readonly #max: number;

  constructor(max: number = limits.devicePollsMax) {
    this.#max = max;
  }

  /** Counts a poll. @param now milliseconds; after a clock was set back, the poll is in time @returns whether it is too early */
  isTooEarly(id: string, now: number): boolean {
    const last = this.#paces.get(id);
    const elapsedMs = last ? now - last.polledAt : Infinity;
    const intervalMs = last?.intervalMs ?? stepMs;
    const isEarly = elapsedMs >= 0 && elapsedMs < intervalMs;
    const nextMs = isEarly ? Math.min(intervalMs + stepMs, limits.deviceIntervalSecondsMax * 1_000) : intervalMs;
    this.#paces.delete(id);
    this.#paces.set(id, { polledAt: now, intervalMs: nextMs });
    if (this.#paces.size > this.#max) {
      const [oldest] = this.#paces.keys();
      if (oldest !== undefined) this.#paces.delete(oldest);
    }
    return isEarly;
  }

  forget(id: string): void {
    this.#paces.delete(id);
  }
}
