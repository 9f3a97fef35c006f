/**
 * Verification of credentials. The text of a credential shows its kind, and each kind has a file: `keys.ts`,
 * `short-lived-secrets.ts`, `imported-keys.ts` and `access-tokens.ts`. Text of no known format is rejected without a database
 * read. The steps after the read are in `results.ts`.
 */
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Environments } from '../api-keys/environments.ts';
import { formOf, hasShortLivedShape, mayBeImported } from '../api-keys/key-format.ts';
import { verifyAccessToken } from './access-tokens.ts';
import {
  unconditional,
  type Answer,
  type BatchVerificationResult,
  type Conditions,
  type Fail,
  type Question,
  type VerificationResult,
} from './conditions.ts';
import { VerificationDurations } from './durations.ts';
import { ImportedKeys } from './imported-keys.ts';
import { Keys } from './keys.ts';
import { parentOf, record } from './recorded.ts';
import { Results, type ResultCounts, type VerifierOptions } from './results.ts';
import { ShortLivedSecrets } from './short-lived-secrets.ts';

export class Verifier {
  readonly durations = new VerificationDurations();
  readonly importedKeys: ImportedKeys;
  readonly #options: VerifierOptions;
  readonly #results: Results;
  readonly #keys: Keys;
  readonly #shortLivedSecrets: ShortLivedSecrets;

  constructor(options: VerifierOptions) {
    const isExtended = options.pendingScopeChanges !== undefined || options.environments.first !== undefined;
    this.#options = options;
    this.#results = new Results(options);
    this.#keys = new Keys(options, this.#results, isExtended);
    this.#shortLivedSecrets = new ShortLivedSecrets(options, this.#results, isExtended);
    this.importedKeys = new ImportedKeys(options, this.#keys, this.#results);
  }

  /** Of verifications since the start, by result. */
  get counts(): ResultCounts {
    return this.#results.counts;
  }

  get environments(): Environments {
    return this.#options.environments;
  }

  /** Reads whether imported keys exist, before the first verification. @throws DomainError `unavailable` */
  async prepare(): Promise<void> {
    await this.importedKeys.refresh();
  }

  /** The lookup of a key, by which a transaction finds its secret. */
  readonly lookupOf = (text: string): number => lookupOf(this.#options.hash.stored(text));

  /** Verifies an API key or an access token. @throws DomainError `unavailable` */
  verify(text: string, conditions = unconditional): Promise<VerificationResult> {
    return new Promise((resolve, reject) => this.startVerification(text, conditions, resolve, reject));
  }

  /** Verifies an API key; any other credential is malformed. @throws DomainError `unavailable` */
  verifyKey(text: string, conditions = unconditional): Promise<VerificationResult> {
    return new Promise((resolve, reject) => this.startKeyVerification(text, conditions, resolve, reject));
  }

  /**
   * Verifies several credentials. A credential without a result does not fail the others.
   * @param onFailure called with the cause of each credential without a result
   * @returns one result for each question, in order
   * @throws the first cause when no credential has a result
   */
  verifyMany(questions: readonly Question[], onFailure: (error: unknown) => void): Promise<BatchVerificationResult[]> {
    return new Promise((resolve, reject) => {
      const results: BatchVerificationResult[] = Array.from({ length: questions.length });
      const failures: unknown[] = [];
      let missing = questions.length;
      if (missing === 0) resolve(results);
      const start = ({ text, conditions = unconditional }: Question, index: number): void => {
        const answer = (result: BatchVerificationResult): void => {
          results[index] = result;
          if (--missing > 0) return;
          if (failures.length === questions.length) return reject(failures[0]);
          for (const error of failures) onFailure(error);
          resolve(results);
        };
        this.startVerification(text, conditions, answer, (error) => {
          failures.push(error);
          answer({ valid: false, code: 'unavailable' });
        });
      };
      this.together(() => questions.forEach(start));
    });
  }

  /** The API keys that `start` begins to verify before it returns share one read. */
  together<T>(start: () => T): T {
    return this.#keys.together(start);
  }

  /** {@link verify} with callbacks instead of a promise, for the hot path. */
  startVerification(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const parent = parentOf(conditions);
    if (parent) record({ ...conditions, span: parent }, answer, fail, (...recorded) => this.#start(text, ...recorded));
    else this.#start(text, conditions, answer, fail);
  }

  #start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    // An access token is a JWT and starts with the base64url of `{"`. A key starts with a lower-case prefix.
    if (text.startsWith('eyJ'))
      void verifyAccessToken(text, conditions, this.#options, this.#results).then(answer).catch(fail);
    else this.#startKey(text, conditions, answer, fail);
  }

  /** {@link verifyKey} with callbacks. */
  startKeyVerification(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const parent = parentOf(conditions);
    if (parent)
      record({ ...conditions, span: parent }, answer, fail, (...recorded) => this.#startKey(text, ...recorded));
    else this.#startKey(text, conditions, answer, fail);
  }

  #startKey(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const { keyPrefixes } = this.#options;
    const form = formOf(text, keyPrefixes);
    if (form === 'malformed' && hasShortLivedShape(text)) this.#shortLivedSecrets.start(text, conditions, answer, fail);
    else if (form === 'malformed' && mayBeImported(text, keyPrefixes))
      this.importedKeys.start(text, conditions, answer, fail);
    else if (form !== 'key') this.#results.answerWith(form, conditions, answer, fail);
    else this.#keys.start(text, conditions, answer, fail);
  }
}
