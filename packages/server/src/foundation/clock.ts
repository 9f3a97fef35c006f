/** The current time; the only reader of the system's clock. Everything else is handed a Clock, tests a fake one. */

import { limits } from '@keyreeve/contract';

export interface Clock {
  /** Milliseconds since 1970 in UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds. */
export const toInstant = (ms: number): string => new Date(ms).toISOString();

/**
 * Whether a moment lies at most `ms` in the past. A moment further in the future than clocks may differ is not recent:
 * a clock that was set back lengthens nothing by more than that. All values in milliseconds.
 */
export const isRecent = (now: number, since: number, ms: number): boolean =>
  now - since <= ms && since - now <= limits.clockSkewSeconds * 1000;

/** Milliseconds on a clock that never jumps: for durations only. */
export const monotonicMs = (): number => performance.now();
