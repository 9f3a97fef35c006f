/** Verification of API keys by their current secret and, while a rotation overlaps, by their previous one. */
import { limits } from '@keyreeve/contract';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { findKeyStates, findPreviousKeyStates, type KeyState } from '../api-keys/state-store.ts';
import type { Answer, Conditions, Fail } from './conditions.ts';
import type { Results, VerifierOptions } from './results.ts';

export class Keys {
  readonly #options: VerifierOptions;
  readonly #results: Results;
  readonly #reader: CoalescingReader<Buffer, KeyState>;
  readonly #previousReader: CoalescingReader<Buffer, KeyState>;

  /** @param isExtended whether the scope catalogue and further environments are read */
  constructor(options: VerifierOptions, results: Results, isExtended: boolean) {
    const { db } = options;
    this.#options = options;
    this.#results = results;
    this.#reader = new CoalescingReader((hashes) => findKeyStates(db, hashes, isExtended), db.sharedReads);
    // The misses of one read arrive together, so they always share the next one.
    const together = { ...db.sharedReads, immediateBatchSize: limits.lookupBatchMax };
    this.#previousReader = new CoalescingReader((hashes) => findPreviousKeyStates(db, hashes, isExtended), together);
  }

  /** The lookups that `start` begins before it returns share one read. */
  together<T>(start: () => T): T {
    return this.#reader.together(start);
  }

  start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    this.find(this.#options.hash.stored(text), this.#narrowed(conditions, text), answer, fail);
  }

  /**
   * Reads the previous secrets only when no key has the hash as its current secret. A rotation moves a secret from one table
   * to the other in one commit, and the second read starts after the first one, so together they miss no valid secret.
   */
  find(hash: Buffer, conditions: Conditions, answer: Answer, fail: Fail): void {
    const answerTo = (key?: KeyState): void => this.#results.answerFor(key, conditions, answer, fail);
    const { span } = conditions;
    const answerOrRead = (key?: KeyState): void =>
      key ? answerTo(key) : this.#previousReader.find(hash, answerTo, fail, span);
    this.#reader.find(hash, answerOrRead, fail, span);
  }

  /** Without the environments that the prefix of the key excludes. */
  #narrowed(conditions: Conditions, text: string): Conditions {
    const { environments: accepted = this.#options.environments.byDefault } = conditions;
    const environments = this.#options.environments.allowedBy(text, accepted);
    return environments === accepted ? conditions : { ...conditions, environments };
  }
}
