/**
 * Judging a credential. Its kind is known from its text; what isn't of this installation is refused without reading
 * anything. Expected outcomes are values: a refusal is as ordinary as a yes.
 */
import type { Refusal } from '@keyreeve/contract';
import { formOf, mayBeImported } from '../api-keys/key-format.ts';
import { findKeyStates, touchKeys, type KeyState } from '../api-keys/store.ts';
import { scopesInForce } from '../api-keys/scopes.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { UnfinishedRevocations } from '../deletion-journal/unfinished-revocations.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { ImportedKeys } from './imported-keys.ts';
import { LastUsed } from './last-used.ts';

export interface AcceptedKey {
  readonly valid: true;
  readonly type: 'api_key';
  readonly accountId: string;
  readonly keyId: number;
  readonly nickname: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** Milliseconds. */
  readonly expiresAt: number | null;
  readonly issuedAt: number;
}

export interface AcceptedToken {
  readonly valid: true;
  readonly type: 'access_token';
  readonly accountId: string;
  readonly expiresAt: number;
  readonly issuedAt: number;
}

export type Verdict = AcceptedKey | AcceptedToken | { readonly valid: false; readonly code: Refusal };

/** Of many: `unavailable` where it can't be known. */
export type BatchVerdict = Verdict | { readonly valid: false; readonly code: 'unavailable' };

/** One of the two is called, once. */
type Answer = (verdict: Verdict) => void;
/** With DomainError `unavailable` when it can't be known. */
type Fail = (error: unknown) => void;

/** Verdicts given since the start, for metrics: plain numbers, because this is the hot path. */
export type ResultCounts = Record<'api_key' | 'access_token' | Refusal, number>;

export interface VerifierOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hash: KeyedHash;
  readonly tokens: Tokens;
  readonly unfinished: UnfinishedRevocations<number>;
  readonly unfinishedAccounts: UnfinishedRevocations<string>;
  /** The installation's own and those it used before. */
  readonly keyPrefixes: readonly string[];
}

const refusals: { readonly [Code in Refusal]: { readonly valid: false; readonly code: Code } } = {
  malformed: { valid: false, code: 'malformed' },
  wrong_kind: { valid: false, code: 'wrong_kind' },
  not_found: { valid: false, code: 'not_found' },
  expired: { valid: false, code: 'expired' },
  disabled: { valid: false, code: 'disabled' },
  enrolment_required: { valid: false, code: 'enrolment_required' },
};

export class Verifier {
  readonly counts: ResultCounts = {
    api_key: 0,
    access_token: 0,
    malformed: 0,
    wrong_kind: 0,
    not_found: 0,
    expired: 0,
    disabled: 0,
    enrolment_required: 0,
  };
  readonly #options: VerifierOptions;
  readonly #reader: CoalescingReader<Buffer, KeyState>;
  readonly #importedKeys: ImportedKeys;
  readonly #lastUsed: LastUsed;

  constructor(options: VerifierOptions) {
    const { db, clock } = options;
    this.#options = options;
    this.#reader = new CoalescingReader((hashes) => findKeyStates(db, hashes), db.sharedReads);
    this.#importedKeys = new ImportedKeys(db, clock);
    this.#lastUsed = new LastUsed((usedAtById) => touchKeys(db, usedAtById));
  }

  /** Before the first question: so that only a late import has to be noticed. @throws DomainError `unavailable` */
  async prepare(): Promise<void> {
    await this.#importedKeys.look();
  }

  /** An API key or an access token, by its text. @throws DomainError `unavailable` when it can't be known */
  verify(text: string): Promise<Verdict> {
    return new Promise((resolve, reject) => this.judge(text, resolve, reject));
  }

  /** An API key only: anything else is malformed here. */
  verifyKey(text: string): Promise<Verdict> {
    return new Promise((resolve, reject) => this.judgeKey(text, resolve, reject));
  }

  /**
   * Many, in order; one promise for all of them. A credential about which nothing can be known fails no other.
   * @param onFailure called with each cause
   * @throws the first cause when nothing can be known of any
   */
  verifyMany(texts: readonly string[], onFailure: (error: unknown) => void): Promise<BatchVerdict[]> {
    return new Promise((resolve, reject) => {
      const verdicts: BatchVerdict[] = Array.from({ length: texts.length });
      const failures: unknown[] = [];
      let missing = texts.length;
      if (missing === 0) resolve(verdicts);
      for (const [index, text] of texts.entries()) {
        const answer = (verdict: BatchVerdict): void => {
          verdicts[index] = verdict;
          if (--missing > 0) return;
          if (failures.length === texts.length) return reject(failures[0]);
          for (const error of failures) onFailure(error);
          resolve(verdicts);
        };
        this.judge(text, answer, (error) => {
          failures.push(error);
          answer({ valid: false, code: 'unavailable' });
        });
      }
    });
  }

  /** {@link verify} by callbacks, for the hot path. */
  judge(text: string, answer: Answer, fail: Fail): void {
    // An access token is a JWT: the base64url of `{"`. No key begins so, for a prefix is lower case.
    if (text.startsWith('eyJ')) void this.#judgeToken(text).then(answer).catch(fail);
    else this.judgeKey(text, answer, fail);
  }

  /** {@link verifyKey} by callbacks. */
  judgeKey(text: string, answer: Answer, fail: Fail): void {
    const { keyPrefixes, hash } = this.#options;
    const form = formOf(text, keyPrefixes);
    if (form === 'malformed' && mayBeImported(text, keyPrefixes)) this.#judgeForeign(text, answer, fail);
    else if (form !== 'key') answer(this.#refuse(form));
    else this.#reader.find(hash.stored(text), (key) => answer(this.#judgeState(key)), fail);
  }

  /** A text of no form of ours: of another system, if keys of any were imported. */
  #judgeForeign(text: string, answer: Answer, fail: Fail): void {
    const find = (): void =>
      this.#reader.find(this.#options.hash.stored(text), (key) => answer(this.#judgeState(key)), fail);
    if (this.#importedKeys.exist) return find();
    void this.#importedKeys
      .look()
      .then((exist) => (exist ? find() : answer(this.#refuse('malformed'))))
      .catch(fail);
  }

  /** Writes the last-used times that have collected. */
  flush(): Promise<void> {
    return this.#lastUsed.flush();
  }

  /** @throws DomainError `unavailable` when the key or its account may have been deleted */
  #judgeState(key: KeyState | undefined): Verdict {
    if (key === undefined) return this.#refuse('not_found');
    if (key.accountDisabledAt !== null) return this.#refuse('disabled');
    this.#options.unfinished.assertNone(key.id);
    this.#options.unfinishedAccounts.assertNone(key.accountId);
    const now = this.#options.clock.now();
    if (key.expiresAt !== null && key.expiresAt <= now) return this.#refuse('expired');
    this.#lastUsed.note(key.id, now, key.lastUsedAt);
    this.counts.api_key++;
    return {
      valid: true,
      type: 'api_key',
      accountId: key.accountId,
      keyId: key.id,
      nickname: key.nickname,
      scopes: scopesInForce(key.scopes, key.needsRole === 1, key.ownerRole),
      expiresAt: key.expiresAt,
      issuedAt: key.createdAt,
    };
  }

  async #judgeToken(text: string): Promise<Verdict> {
    const verdict = await this.#options.tokens.judge(text);
    if (!verdict.valid) return this.#refuse(verdict.code);
    if (verdict.mustEnrol) return this.#refuse('enrolment_required');
    this.counts.access_token++;
    const { accountId, expiresAt, issuedAt } = verdict.claims;
    return { valid: true, type: 'access_token', accountId, expiresAt: expiresAt * 1000, issuedAt: issuedAt * 1000 };
  }

  #refuse(code: Refusal): Verdict {
    this.counts[code]++;
    return refusals[code];
  }
}

/** @param scopes separated by spaces */
export function hasScope(scopes: string, wanted: string): boolean {
  return scopes === wanted || (scopes !== '' && scopes.split(' ').includes(wanted));
}
