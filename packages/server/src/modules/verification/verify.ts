/**
 * Verification of API keys and access tokens. The text of a credential shows its kind; text of no known format is
 * rejected without a database read. A rejection is a value, not an error, because it is as frequent as an acceptance.
 */
import { limits, refusals, type Refusal } from '@keyreeve/contract';
import { AddressRanges } from '../api-keys/address-ranges.ts';
import type { Environments } from '../api-keys/environments.ts';
import { formOf, hasShortLivedShape, mayBeImported, shortLivedFormOf } from '../api-keys/key-format.ts';
import { hasScopes, scopesInForce } from '../api-keys/scopes.ts';
import {
  endOf,
  findKeyStates,
  findPreviousKeyStates,
  touchKeys,
  touchPreviousSecrets,
  type KeyState,
} from '../api-keys/state-store.ts';
import { findShortLivedKeyStates } from '../short-lived-secrets/state-store.ts';
import { withoutWithheld } from '../scope-catalogue/withheld.ts';
import type { Core } from '../../foundation/core.ts';
import { expiryTime } from '../../foundation/clock.ts';
import { lookupOf, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { UsageCounter } from '../key-usage/usage-counter.ts';
import type { KeyLimiter, LimitOutcome, Spending } from '../key-limits/key-limits.ts';
import type { Tokens } from '../tokens/tokens.ts';
import {
  restricted,
  unconditional,
  type AcceptedKey,
  type BatchVerificationResult,
  type Conditions,
  type Question,
  type Refused,
  type VerificationResult,
} from './conditions.ts';
import { VerificationDurations } from './durations.ts';
import { ImportedKeys } from './imported-keys.ts';
import { LastUsed } from './last-used.ts';
import { parentOf, record } from './recorded.ts';
import { newResultCounts } from './result-counts.ts';

/** Either this or {@link Fail} is called, exactly once. */
type Answer = (result: VerificationResult) => void;
/** Called with DomainError `unavailable`. */
type Fail = (error: unknown) => void;

export interface VerifierOptions extends Core {
  readonly hash: KeyedHash;
  readonly tokens: Tokens;
  readonly limiter: KeyLimiter;
  readonly pendingKeyChanges: PendingChanges<number>;
  readonly pendingAccountChanges: PendingChanges<string>;
  /** By scope. Undefined if the scope catalogue is not enforced: then it is not read either. */
  readonly pendingScopeChanges: PendingChanges<string> | undefined;
  /** Undefined if verifications are not counted. */
  readonly usage: UsageCounter | undefined;
  /** The current prefix and the earlier ones. */
  readonly keyPrefixes: readonly string[];
  readonly environments: Environments;
}

/** One value for each code, so that a rejection without details allocates nothing. */
const rejections = Object.fromEntries(Object.keys(refusals).map((code) => [code, { valid: false, code }])) as Readonly<
  Record<Refusal, Refused>
>;

export class Verifier {
  readonly counts = newResultCounts();
  readonly durations = new VerificationDurations();
  readonly importedKeys: ImportedKeys;
  readonly #options: VerifierOptions;
  readonly #reader: CoalescingReader<Buffer, KeyState>;
  readonly #previousReader: CoalescingReader<Buffer, KeyState>;
  readonly #shortLivedReader: CoalescingReader<Buffer, KeyState>;
  readonly #lastUsed: LastUsed;
  readonly #previousLastUsed: LastUsed;
  readonly #ranges = new AddressRanges();

  constructor(options: VerifierOptions) {
    const { db, clock } = options;
    const isExtended = options.pendingScopeChanges !== undefined || options.environments.first !== undefined;
    this.#options = options;
    this.#reader = new CoalescingReader((hashes) => findKeyStates(db, hashes, isExtended), db.sharedReads);
    // The misses of one read arrive together, so they always share the next one.
    const together = { ...db.sharedReads, immediateBatchSize: limits.lookupBatchMax };
    this.#previousReader = new CoalescingReader((hashes) => findPreviousKeyStates(db, hashes, isExtended), together);
    const findShortLived = (hashes: readonly Buffer[]) => findShortLivedKeyStates(db, hashes, isExtended);
    this.#shortLivedReader = new CoalescingReader(findShortLived, db.sharedReads);
    this.importedKeys = new ImportedKeys(db, clock);
    this.#lastUsed = new LastUsed((uses) => touchKeys(db, uses));
    this.#previousLastUsed = new LastUsed((uses) => touchPreviousSecrets(db, uses));
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
    return this.#reader.together(start);
  }

  /** {@link verify} with callbacks instead of a promise, for the hot path. */
  startVerification(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const parent = parentOf(conditions);
    if (parent) record({ ...conditions, span: parent }, answer, fail, (...recorded) => this.#start(text, ...recorded));
    else this.#start(text, conditions, answer, fail);
  }

  #start(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    // An access token is a JWT and starts with the base64url of `{"`. A key starts with a lower-case prefix.
    if (text.startsWith('eyJ')) void this.#verifyToken(text, conditions).then(answer).catch(fail);
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
    const { keyPrefixes, hash } = this.#options;
    const form = formOf(text, keyPrefixes);
    if (form === 'malformed' && hasShortLivedShape(text))
      this.#startShortLivedVerification(text, conditions, answer, fail);
    else if (form === 'malformed' && mayBeImported(text, keyPrefixes))
      this.#startImportedKeyVerification(text, conditions, answer, fail);
    else if (form !== 'key') this.#answerWith(form, conditions, answer, fail);
    else this.#find(hash.stored(text), this.#narrowed(conditions, text), answer, fail);
  }

  /** Without the environments that the prefix of the key excludes. */
  #narrowed(conditions: Conditions, text: string): Conditions {
    const { environments: accepted = this.environments.byDefault } = conditions;
    const environments = this.environments.allowedBy(text, accepted);
    return environments === accepted ? conditions : { ...conditions, environments };
  }

  /** A short-lived secret, which is in no other table. Its environment is that of its key. */
  #startShortLivedVerification(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const form = shortLivedFormOf(text);
    if (form !== 'key') return this.#answerWith(form, conditions, answer, fail);
    const answerTo = (key: KeyState | undefined): void => this.#answerFor(key, conditions, answer, fail);
    this.#shortLivedReader.find(this.#options.hash.stored(text), answerTo, fail, conditions.span);
  }

  /** The text does not have the format of our keys: a key of another system, if such keys were imported. */
  #startImportedKeyVerification(text: string, conditions: Conditions, answer: Answer, fail: Fail): void {
    const find = (): void => this.#find(this.#options.hash.stored(text), conditions, answer, fail);
    if (this.importedKeys.exist) return find();
    void this.importedKeys
      .refresh()
      .then((exist) => (exist ? find() : this.#answerWith('malformed', conditions, answer, fail)))
      .catch(fail);
  }

  /**
   * Reads the previous secrets only when no key has the hash as its current secret. A rotation moves a secret from one table
   * to the other in one commit, and the second read starts after the first one, so together they miss no valid secret.
   */
  #find(hash: Buffer, conditions: Conditions, answer: Answer, fail: Fail): void {
    const answerTo = (key?: KeyState): void => this.#answerFor(key, conditions, answer, fail);
    const { span } = conditions;
    const answerOrRead = (key?: KeyState): void =>
      key ? answerTo(key) : this.#previousReader.find(hash, answerTo, fail, span);
    this.#reader.find(hash, answerOrRead, fail, span);
  }

  /** Writes the counts of verifications and the times of last use that were collected before the call. */
  async flush(): Promise<void> {
    try {
      await this.#options.usage?.flush();
    } finally {
      await this.#lastUsed.flush().finally(() => this.#previousLastUsed.flush());
    }
  }

  #answerWith(code: Refusal, conditions: Conditions, answer: Answer, fail: Fail): void {
    if (conditions.restriction === undefined) answer(this.#refuse(code));
    else void restricted(conditions).then(() => answer(this.#refuse(code)), fail);
  }

  /** @throws DomainError `unavailable`, as {@link #resultOfKey} */
  #answerFor(key: KeyState | undefined, conditions: Conditions, answer: Answer, fail: Fail): void {
    if (conditions.restriction !== undefined) {
      void restricted(conditions)
        .then((known) => this.#answerFor(key, known, answer, fail))
        .catch(fail);
      return;
    }
    if (key === undefined || conditions.mayVerify?.(key) === false) return answer(this.#refuse('not_found'));
    const now = this.#options.clock.now();
    const result = this.#resultOfKey(key, now, conditions);
    if (!result.valid || conditions.isUnlimited || (key.limits === null && key.accountLimits === null))
      answer(this.#counted(key, now, conditions, result));
    else {
      const finish = (limited: AcceptedKey | Refused): void => answer(this.#counted(key, now, conditions, limited));
      this.#spend({ key, cost: conditions.cost ?? 1, now }, result, finish, fail);
    }
  }

  /** Limits come last, so a verification that is refused for another reason spends nothing. */
  #spend(spending: Spending, accepted: AcceptedKey, finish: (result: AcceptedKey | Refused) => void, fail: Fail): void {
    const finishWith = (outcome: LimitOutcome): void => {
      const { exceeded } = outcome;
      if (!exceeded) finish({ ...accepted, outcome });
      else finish({ ...this.#refuse(exceeded.kind === 'rate' ? 'rate_limited' : 'quota_exceeded'), outcome });
    };
    this.#options.limiter.spend(spending, finishWith, fail);
  }

  /** Counts the verification in the usage of the key, and records the last use. */
  #counted(key: KeyState, now: number, { clientIp }: Conditions, result: AcceptedKey | Refused): VerificationResult {
    if (!result.valid) {
      this.#options.usage?.refuse(key.id, now);
      return result;
    }
    this.#options.usage?.accept(key.id, now);
    this.#lastUsed.record(key, now, key.lastUsedAt, clientIp);
    if (key.overlapEndsAt !== null) this.#previousLastUsed.record(key, now, key.secretLastUsedAt, clientIp);
    this.counts.api_key++;
    return result;
  }

  /** @throws DomainError `unavailable` when the key or its account may have been deleted */
  #resultOfKey(key: KeyState, now: number, conditions: Conditions): AcceptedKey | Refused {
    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.#refuse('disabled');
    this.#options.pendingKeyChanges.assertNone(key.id);
    this.#options.pendingAccountChanges.assertNone(key.accountId);
    const { clock } = this.#options;
    const expiresAt = endOf(key);
    if (expiresAt !== null && expiresAt <= expiryTime(clock, key.readAt)) return this.#refuse('expired');
    const environment = this.environments.nameOf(key.environment ?? null);
    if (!this.#isAccepted(environment, conditions)) return this.#refuse('wrong_environment');
    if (key.addresses !== null) {
      const ip = conditions.clientIp();
      if (ip === undefined) return this.#refuse('address_required');
      if (!this.#ranges.contain(key.addresses, ip)) return this.#refuse('address_not_allowed');
    }
    this.#assertNoPendingScope(key.scopes);
    const granted = scopesInForce(key.scopes, key.needsRole === 1, key.ownerRole);
    const scopes = this.#options.pendingScopeChanges ? withoutWithheld(granted, key.withheld) : granted;
    if (!hasScopes(scopes, conditions.scopes)) return this.#refuseForScopes(scopes, conditions.scopes);
    return {
      valid: true,
      type: 'api_key',
      accountId: key.accountId,
      keyId: key.id,
      nickname: key.nickname,
      addresses: key.addresses,
      metadata: key.metadata,
      environment,
      scopes,
      expiresAt,
      issuedAt: key.secretIssuedAt ?? key.createdAt,
    };
  }

  /** @param environment undefined if none is configured */
  #isAccepted(environment: string | undefined, { environments = this.environments.byDefault }: Conditions): boolean {
    return environment === undefined || environments.includes(environment);
  }

  /** @throws DomainError `unavailable` when a change of one of the scopes is unfinished */
  #assertNoPendingScope(scopes: string): void {
    const { pendingScopeChanges: pending } = this.#options;
    if (pending === undefined || pending.isEmpty) return;
    for (const scope of scopes.split(' ')) pending.assertNone(scope);
  }

  /** An access token has no scopes. */
  async #verifyToken(text: string, stated: Conditions): Promise<VerificationResult> {
    const result = await this.#options.tokens.verify(text);
    const conditions = stated.restriction === undefined ? stated : await restricted(stated);
    const { scopes } = conditions;
    if (conditions.mayVerify) return this.#refuse('not_found');
    if (!result.valid) return this.#refuse(result.code);
    if (result.mustEnrol) return this.#refuse('enrolment_required');
    const environment = this.environments.first;
    if (!this.#isAccepted(environment, conditions)) return this.#refuse('wrong_environment');
    if (!hasScopes('', scopes)) return this.#refuseForScopes('', scopes);
    this.counts.access_token++;
    const { accountId, expiresAt, issuedAt } = result.claims;
    const times = { expiresAt: expiresAt * 1000, issuedAt: issuedAt * 1000 };
    return { valid: true, type: 'access_token', accountId, ...times, environment };
  }

  #refuse(code: Refusal): Refused {
    this.counts[code]++;
    return rejections[code];
  }

  #refuseForScopes(held: string, wanted: readonly string[]): Refused {
    const scopes = held.split(' ');
    return { ...this.#refuse('insufficient_scope'), missing: wanted.filter((scope) => !scopes.includes(scope)) };
  }
}
