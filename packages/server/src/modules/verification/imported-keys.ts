/**
 * Verification of keys of other systems. Until such keys are imported, a text without one of our prefixes is rejected without a
 * lookup. Whether they are is read only when such a text arrives, at most once per `limits.importedKeysLookSeconds`.
 */
import { limits } from '@keyreeve/contract';
import { wereKeysImported } from '../../foundation/database/installation.ts';
import type { Answer, Conditions, Fail } from './conditions.ts';
import type { Keys } from './keys.ts';
import type { Results, VerifierOptions } from './results.ts';

const readMsMin = limits.importedKeysLookSeconds * 1_000;

export class ImportedKeys {
  readonly #options: VerifierOptions;
  readonly #keys: Keys;
  readonly #results: Results;
  #exist = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: VerifierOptions, keys: Keys, results: Results) {
    this.#options = options;
    this.#keys = keys;
    this.#results = results;
  }

  /** @param text does not have the format of our keys */
  start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const find = (): void => this.#keys.find(this.#options.hash.stored(text), conditions, answer, fail);
    if (this.#exist) return find();
    void this.refresh()
      .then((exist) => (exist ? find() : this.#results.answerWith('malformed', conditions, answer, fail)))
      .catch(fail);
  }

  /** Records that this instance has created such a key. */
  expect(): void {
    this.#exist = true;
  }

  /**
   * Reads the database unless a recent read exists.
   * @returns whether such keys exist, as of the last read or since {@link expect}; once true, it stays true
   * @throws DomainError `unavailable`
   */
  async refresh(): Promise<boolean> {
    const since = this.#options.clock.now() - this.#readAt;
    // A negative difference: the clock was set back.
    if (this.#exist || (since >= 0 && since < readMsMin)) return this.#exist;
    await (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
    return this.#exist;
  }

  async #read(): Promise<void> {
    const at = this.#options.clock.now();
    this.#exist = await wereKeysImported(this.#options.db);
    this.#readAt = at;
  }
}
