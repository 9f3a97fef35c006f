/**
 * Whether changes can be committed. Readiness does not depend on it, because verifications only read; its body, a metric
 * and an alert show it. After a failure an empty change is tried every second until one succeeds, so that it also shows
 * when no client changes anything.
 */
const probeEveryMs = 1_000;

export class WriteHealth {
  /** Commits since the start. */
  readonly commits = { committed: 0, failed: 0 };
  readonly #probe: () => Promise<unknown>;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe commits something; it reports its own outcome here, as every change does */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  get isHealthy(): boolean {
    return !this.#isFailing;
  }

  succeeded(): void {
    this.commits.committed++;
    this.#isFailing = false;
    this.stop();
  }

  /** A commit, or the beginning of a change, failed. A change that was refused did not. */
  failed(): void {
    this.commits.failed++;
    this.#isFailing = true;
    this.#timer ??= setInterval(() => void this.#probe().catch(() => undefined), probeEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
