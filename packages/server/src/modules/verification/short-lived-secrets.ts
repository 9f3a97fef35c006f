/** Verification of short-lived secrets, which are in a table of their own. */
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { shortLivedFormOf } from '../api-keys/key-format.ts';
import { hasReservedScope, splitScopes } from '../api-keys/scopes.ts';
import type { KeyState } from '../api-keys/state-store.ts';
import { findShortLivedKeyStates } from '../short-lived-secrets/state-store.ts';
import type { Answer, Conditions, Fail } from './conditions.ts';
import type { Results, VerifierOptions } from './results.ts';

export class ShortLivedSecrets {
  readonly #options: VerifierOptions;
  readonly #results: Results;
  readonly #reader: CoalescingReader<Buffer, KeyState>;

  /** @param isExtended whether the scope catalogue and further environments are read */
  constructor(options: VerifierOptions, results: Results, isExtended: boolean) {
    const { db } = options;
    this.#options = options;
    this.#results = results;
    this.#reader = new CoalescingReader((hashes) => findShortLivedKeyStates(db, hashes, isExtended), db.sharedReads);
  }

  /** The environment of a short-lived secret is that of its key. */
  start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const form = shortLivedFormOf(text);
    if (form !== 'key') return this.#results.answerWith(form, conditions, answer, fail);
    const answerTo = (key: KeyState | undefined): void => {
      if (typeof key?.secretIssuerId === 'number') this.#options.pendingIssuerChanges.assertNone(key.secretIssuerId);
      this.#results.answerFor(key && hasNoReservedScope(key) ? key : undefined, conditions, answer, fail);
    };
    this.#reader.find(this.#options.hash.stored(text), answerTo, fail, conditions.span);
  }
}

/** A key with a secret can get a reserved scope after its client got a short-lived secret. No such secret has a reserved scope. */
const hasNoReservedScope = ({ scopes }: KeyState): boolean => scopes === '' || !hasReservedScope(splitScopes(scopes));
