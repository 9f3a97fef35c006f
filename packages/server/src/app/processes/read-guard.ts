/**
 * Whether a verifier may still read. A process that was stopped can continue after its main process was killed, the database
 * replaced and a key deleted. So before a read, it compares the files and its parent if the last comparison is too old.
 */
import type { DatabaseFile } from '../../foundation/database/file-identity.ts';

/** Milliseconds. */
const comparisonMsMax = 250;

export interface ReadGuardOptions {
  /** The process id of the parent, as it is now. */
  readonly parentPid: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  /** Called once, when no further read is permitted. The process must end. */
  readonly onRefused: (reason: Error) => void;
}

export class ReadGuard {
  readonly #options: ReadGuardOptions;
  readonly #parentPid: number;
  #comparedMs = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;

  constructor(options: ReadGuardOptions) {
    this.#options = options;
    this.#parentPid = options.parentPid();
  }

  /** @param file undefined on PostgreSQL @throws DatabaseReplacedError, or Error after the end of the main process */
  readonly check = (file: DatabaseFile | undefined): void => {
    if (this.#refusal) throw this.#refusal;
    const { monotonicMs, parentPid, onRefused } = this.#options;
    const now = monotonicMs();
    if (now - this.#comparedMs <= comparisonMsMax) return file?.assertInPlace();
    try {
      // On Windows, the id stays that of the ended process; the end of the channel then ends this one.
      if (parentPid() !== this.#parentPid) throw new Error('the main process has ended');
      file?.compare();
      this.#comparedMs = now;
    } catch (error) {
      this.#refusal = error as Error;
      onRefused(this.#refusal);
      throw error;
    }
  };
}
