/**
 * Whether keys of other systems were ever imported. Until then what has none of our prefixes is refused without being
 * looked up; and the question itself is asked only when such a text comes, and seldom.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import { wereKeysImported } from '../../foundation/database/installation.ts';

const lookMsMin = limits.importedKeysLookSeconds * 1_000;

export class ImportedKeys {
  readonly #db: Db;
  readonly #clock: Clock;
  #exist = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** What is known; once true it stays so. */
  get exist(): boolean {
    return this.#exist;
  }

  /** {@link exist}, after a look at the database unless there was one just now. @throws DomainError `unavailable` */
  async look(): Promise<boolean> {
    const since = this.#clock.now() - this.#lookedAt;
    // A clock that was set back is no reason to wait.
    if (this.#exist || (since >= 0 && since < lookMsMin)) return this.#exist;
    await (this.#looking ??= this.#ask().finally(() => (this.#looking = undefined)));
    return this.#exist;
  }

  async #ask(): Promise<void> {
    const at = this.#clock.now();
    this.#exist = await wereKeysImported(this.#db);
    this.#lookedAt = at;
  }
}
