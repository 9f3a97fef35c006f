/** Verification of API keys by their current secret and, while a rotation overlaps, by their previous one. */
import { limits } from '@keyreeve/contract';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { findKeyStates, findPreviousKeyStates, type KeyState } from '../api-keys/state-store.ts';
import type { Answer, Conditions, Fail } from './conditions.ts';
import type { Results, VerifierOptions } from './results.ts';

/** Requests of one caller, which verify the same key, and whose lookup waits for the next read. */
interface Shared {
  readonly text: string;
  readonly hash: Buffer;
  readonly waiting: { readonly onRow: (key?: KeyState) => void; readonly fail: Fail }[];
}

export class Keys {
  readonly #options: VerifierOptions;
  readonly #results: Results;
  readonly #reader: CoalescingReader<Buffer, KeyState>;
  readonly #previousReader: CoalescingReader<Buffer, KeyState>;
  /** Undefined after the read has begun. */
  #shared: Shared | undefined;

  /** @param isExtended whether the scope catalogue and further environments are read */
  constructor(options: VerifierOptions, results: Results, isExtended: boolean) {
    const { db } = options;
    this.#options = options;
    this.#results = results;
    this.#reader = new CoalescingReader((hashes) => {
      this.#shared = undefined;
      return findKeyStates(db, hashes, isExtended);
    }, db.sharedReads);
    // The misses of one read arrive together, so they always share the next one.
    const together = { ...db.sharedReads, immediateBatchSize: limits.lookupBatchMax };
    this.#previousReader = new CoalescingReader((hashes) => findPreviousKeyStates(db, hashes, isExtended), together);
  }

  /** The lookups that `start` begins before it returns share one read. */
  together<T>(start: () => T): T {
    return this.#reader.together(start);
  }

  start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const narrowed = this.#narrowed(conditions, text);
    // Most callers of verifications are few services. A recorded request has a read of its own.
    if (narrowed.isUnlimited && !narrowed.span) this.#startShared(text, narrowed, answer, fail);
    else this.find(this.#options.hash.stored(text), narrowed, answer, fail);
  }

  /** Requests with the same key that arrive before a read begins share its lookup: one hash, and one row of one snapshot. */
  #startShared(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const isFirst = this.#shared?.text !== text;
    if (isFirst) this.#shared = { text, hash: this.#options.hash.stored(text), waiting: [] };
    const { hash, waiting } = this.#shared as Shared;
    waiting.push({ onRow: this.#onRow(hash, conditions, answer, fail), fail });
    if (isFirst)
      this.#reader.find(
        hash,
        (key) => {
          this.#endShared(waiting);
          deliver(waiting, key);
        },
        (error) => {
          this.#endShared(waiting);
          for (const one of waiting) one.fail(error);
        },
      );
  }

  /** Before the callbacks: a request that joined afterwards would never get a result. Also without a read, if there was no room. */
  #endShared(waiting: Shared['waiting']): void {
    if (this.#shared?.waiting === waiting) this.#shared = undefined;
  }

  /**
   * Reads the previous secrets only when no key has the hash as its current secret. A rotation moves a secret from one table
   * to the other in one commit, and the second read starts after the first one, so together they miss no valid secret.
   */
  find(hash: Buffer, conditions: Conditions, answer: Answer, fail: Fail): void {
    this.#reader.find(hash, this.#onRow(hash, conditions, answer, fail), fail, conditions.span);
  }

  #onRow(hash: Buffer, conditions: Conditions, answer: Answer, fail: Fail): (key?: KeyState) => void {
    return (key) => {
      if (key) return this.#results.answerFor(key, conditions, answer, fail);
      const answerTo = (previous?: KeyState): void => this.#results.answerFor(previous, conditions, answer, fail);
      this.#previousReader.find(hash, answerTo, fail, conditions.span);
    };
  }

  /** Without the environments that the prefix of the key excludes. */
  #narrowed(conditions: Conditions, text: string): Conditions {
    const { environments: accepted = this.#options.environments.byDefault } = conditions;
    const environments = this.#options.environments.allowedBy(text, accepted);
    return environments === accepted ? conditions : { ...conditions, environments };
  }
}

/** An error in one callback affects only its request. */
function deliver(waiting: Shared['waiting'], key: KeyState | undefined): void {
  for (const { onRow, fail } of waiting) {
    try {
      onRow(key);
    } catch (error) {
      fail(error);
    }
  }
}
