/** The timers of a client. Tests move theirs; `globalThis` has those of the runtime. */
export interface Timers {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}
