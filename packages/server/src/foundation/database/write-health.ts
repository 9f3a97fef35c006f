/**
 * Whether commits succeed. Readiness does not depend on it, because verifications only read. The readiness response, a
 * metric and an alert report it. After a failure, an empty commit is tried every second until one succeeds, so that the
 * state is current even if no client changes anything.
 */
const probeEveryMs = 1_000;

export class WriteHealth {
  /** Commits since the start. */
  readonly commits = { committed: 0, failed: 0 };
  readonly #probe: () => Promise<unknown>;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe commits something and reports its outcome to this object, as every change does */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  get isHealthy(): boolean {
    return !this.#isFailing;
  }

  /** Commits something, for processes that commit nothing else. @throws DomainError `unavailable` */
  async check(): Promise<void> {
    try {
      await this.#probe();
    } catch (error) {
      // A file that was opened without write access rejects the statement, not the commit.
      this.#isFailing = true;
      throw error;
    }
  }

  succeeded(): void {
    this.commits.committed++;
    this.#isFailing = false;
    this.stop();
  }

  /** A commit or the start of a transaction failed. A change that was rejected is not a failure. */
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
