/** The clock and the timers of a client. Tests move theirs. */
export interface Timers {
  /** Milliseconds, from any start. */
  now(): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

export const runtimeTimers: Timers = {
  // oxlint-disable-next-line no-restricted-properties -- the clock that tests replace
  now: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as number),
};
