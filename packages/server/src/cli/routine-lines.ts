/**
 * Hides the log lines of requests and of each minute on a terminal while an installation has no administrator: they would move the
 * link for the first administrator out of view.
 */
import type { LogEvent } from '../foundation/log-events.ts';
import type { LogLine } from '../foundation/log.ts';

const routineEvents: readonly LogEvent[] = ['request', 'refused', 'repeated', 'verifications', 'audit_checkpoint'];

export class RoutineLines {
  /** Reads the database. Undefined: the lines are shown. */
  #administratorExists: (() => Promise<boolean>) | undefined;
  #isChecking = false;

  hideUntil(administratorExists: () => Promise<boolean>): void {
    this.#administratorExists = administratorExists;
  }

  /** A failure of the service is shown. */
  readonly isHidden = ({ event, status }: LogLine): boolean => {
    if (!this.#administratorExists || !routineEvents.includes(event) || Number(status ?? 0) >= 500) return false;
    void this.#check(this.#administratorExists);
    return true;
  };

  /** Each hidden line starts a check, unless one is running. After a failed one, the next line starts another. */
  async #check(administratorExists: () => Promise<boolean>): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const exists = await administratorExists().catch(() => false);
    this.#isChecking = false;
    if (exists) this.#administratorExists = undefined;
  }
}
