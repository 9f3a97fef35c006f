/** The current time; the only reader of the system's clock. Everything else is handed a Clock, tests a fake one. */

export interface Clock {
  /** Milliseconds since 1970 in UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds. */
export const toInstant = (ms: number): string => new Date(ms).toISOString();

/** Milliseconds on a clock that never jumps: for durations only. */
export const monotonicMs = (): number => performance.now();
