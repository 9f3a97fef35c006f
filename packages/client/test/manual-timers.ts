/** Timers that only a test moves, so that no load of the machine exceeds a deadline. */
import type { Timers } from '../src/timers.ts';

export class ManualTimers implements Timers {
  readonly #pending = new Map<number, { readonly dueMs: number; readonly run: () => void }>();
  #nowMs = 0;
  #ids = 0;

  now(): number {
    return this.#nowMs;
  }

  setTimeout(run: () => void, ms: number): number {
    this.#pending.set(++this.#ids, { dueMs: this.#nowMs + ms, run });
    return this.#ids;
  }

  clearTimeout(timer: unknown): void {
    this.#pending.delete(timer as number);
  }

  /** @returns the time until each timer, in milliseconds */
  waits(): number[] {
    return [...this.#pending.values()].map(({ dueMs }) => dueMs - this.#nowMs);
  }

  /** Calls what is due until then, in the order of the times. */
  move(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#pending].toSorted(([, a], [, b]) => a.dueMs - b.dueMs);
      if (!next || next[1].dueMs > endMs) break;
      this.#pending.delete(next[0]);
      this.#nowMs = next[1].dueMs;
      next[1].run();
    }
    this.#nowMs = endMs;
  }
}
