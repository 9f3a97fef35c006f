/** One message per minute while verifications fail. */
import type { Timers } from './timers.ts';

const periodMs = 60_000;

export class OutageLog {
  readonly #log: (message: string) => void;
  readonly #timers: Timers;
  /** Since the last message. */
  #failures = 0;
  #reason = '';
  #loggedMs: number | undefined;

  constructor(log: (message: string) => void, timers: Timers) {
    this.#log = log;
    this.#timers = timers;
  }

  failed({ message }: Error): void {
    this.#failures++;
    this.#reason = message;
    this.flush();
  }

  /** Logs the failures since the last message, if it is a minute old. */
  flush(): void {
    if (this.#failures === 0) return;
    const nowMs = this.#timers.now();
    const elapsedMs = this.#loggedMs === undefined ? undefined : nowMs - this.#loggedMs;
    if (elapsedMs !== undefined && elapsedMs < periodMs) return;
    const count = this.#failures === 1 ? '1 verification' : `${this.#failures} verifications`;
    const period = elapsedMs === undefined ? '' : ` in ${Math.round(elapsedMs / 1_000)} s`;
    this.#failures = 0;
    this.#loggedMs = nowMs;
    try {
      this.#log(`${this.#reason} (${count} failed${period})`);
    } catch {
      // A log that fails changes no verification.
    }
  }
}
