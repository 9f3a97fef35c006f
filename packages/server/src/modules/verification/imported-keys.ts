/**
 * Whether keys of other systems were imported. Until then a text without one of our prefixes is rejected without a
 * lookup. The database is read only when such a text arrives, at most once per `limits.importedKeysLookSeconds`.
 */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import { wereKeysImported } from '../../foundation/database/installation.ts';

const readMsMin = limits.importedKeysLookSeconds * 1_000;

export class ImportedKeys {
  readonly #db: Db;
  readonly #clock: Clock;
  #exist = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** As of the last read, or since {@link expect}. Once true, it stays true. */
  get exist(): boolean {
    return this.#exist;
  }

  /** Records that this instance has created such a key. */
  expect(): void {
    this.#exist = true;
  }

  /** Reads the database unless a recent read exists. @returns {@link exist} @throws DomainError `unavailable` */
  async refresh(): Promise<boolean> {
    const since = this.#clock.now() - this.#readAt;
    // A negative difference: the clock was set back.
    if (this.#exist || (since >= 0 && since < readMsMin)) return this.#exist;
    await (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
    return this.#exist;
  }

  async #read(): Promise<void> {
    const at = this.#clock.now();
    this.#exist = await wereKeysImported(this.#db);
    this.#readAt = at;
  }
}
