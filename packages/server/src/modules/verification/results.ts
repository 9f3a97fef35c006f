/**
 * The steps that all kinds of credentials share after the read: the conditions, the limits, the counts. A rejection is a value,
 * not an error, because it is as frequent as an acceptance.
 */
import { refusals, type Refusal } from '@keyreeve/contract';
import { expiryTime } from '../../foundation/clock.ts';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { AddressRanges } from '../api-keys/addresses.ts';
import type { Environments } from '../api-keys/environments.ts';
import { hasScopes, scopesInForce } from '../api-keys/scopes.ts';
import { endOf, type KeyState } from '../api-keys/state-store.ts';
import type { PendingIds } from '../deletion-journal/pending-changes.ts';
import type { KeyLimiter, LimitOutcome, Spending } from '../key-limits/key-limits.ts';
import type { UseCollector } from '../key-usage/use-collector.ts';
import { withoutWithheld } from '../scope-catalogue/withheld.ts';
import type { Tokens } from '../tokens/tokens.ts';
import {
  whenRestricted,
  type AcceptedKey,
  type Answer,
  type Conditions,
  type Fail,
  type Refused,
  type VerificationResult,
} from './conditions.ts';

export interface VerifierOptions extends Core {
  readonly hash: KeyedHash;
  readonly tokens: Tokens;
  readonly limiter: KeyLimiter;
  readonly pendingKeyChanges: PendingIds<number>;
  readonly pendingAccountChanges: PendingIds<string>;
  readonly pendingIssuerChanges: PendingIds<number>;
  /** By scope. Undefined if the scope catalogue is not enforced: then it is not read either. */
  readonly pendingScopeChanges: PendingIds<string> | undefined;
  readonly uses: UseCollector;
  /** The current prefix and the earlier ones. */
  readonly keyPrefixes: readonly string[];
  readonly environments: Environments;
}

/** Plain numbers, because this is the hot path. */
export type ResultCounts = Record<'api_key' | 'access_token' | Refusal, number>;

const newCounts = (): ResultCounts => ({
  api_key: 0,
  access_token: 0,
  malformed: 0,
  wrong_kind: 0,
  not_found: 0,
  expired: 0,
  disabled: 0,
  enrolment_required: 0,
  wrong_environment: 0,
  address_required: 0,
  address_not_allowed: 0,
  insufficient_scope: 0,
  rate_limited: 0,
  quota_exceeded: 0,
});

/** One value for each code, so that a rejection without details allocates nothing. */
const rejections = Object.fromEntries(Object.keys(refusals).map((code) => [code, { valid: false, code }])) as Readonly<
  Record<Refusal, Refused>
>;

export class Results {
  /** Since the start. */
  readonly counts = newCounts();
  readonly #options: VerifierOptions;
  readonly #ranges = new AddressRanges();

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  answerWith(code: Refusal, conditions: Conditions, answer: Answer, fail: Fail): void {
    if (conditions.restriction) whenRestricted(conditions, () => answer(this.refuse(code)), fail);
    else answer(this.refuse(code));
  }

  /** @throws DomainError `unavailable`, as {@link #resultOfKey} */
  answerFor(key: KeyState | undefined, conditions: Conditions, answer: Answer, fail: Fail): void {
    if (conditions.restriction) whenRestricted(conditions, (known) => this.#answerFor(key, known, answer, fail), fail);
    else this.#answerFor(key, conditions, answer, fail);
  }

  #answerFor(key: KeyState | undefined, conditions: Conditions, answer: Answer, fail: Fail): void {
    if (key === undefined || conditions.mayVerify?.(key) === false) return answer(this.refuse('not_found'));
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
      else finish({ ...this.refuse(exceeded.kind === 'rate' ? 'rate_limited' : 'quota_exceeded'), outcome });
    };
    this.#options.limiter.spend(spending, finishWith, fail);
  }

  /** Counts the verification in the usage of the key, and records the last use. */
  #counted(key: KeyState, now: number, { clientIp }: Conditions, result: AcceptedKey | Refused): VerificationResult {
    if (!result.valid) {
      this.#options.uses.refuse(key.id, now);
      return result;
    }
    this.#options.uses.accept(key, now, clientIp);
    this.counts.api_key++;
    return result;
  }

  /** @throws DomainError `unavailable` when the key or its account may have been deleted */
  #resultOfKey(key: KeyState, now: number, conditions: Conditions): AcceptedKey | Refused {
    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.refuse('disabled');
    this.#options.pendingKeyChanges.assertNone(key.id);
    this.#options.pendingAccountChanges.assertNone(key.accountId);
    const { clock } = this.#options;
    const expiresAt = endOf(key);
    if (expiresAt !== null && expiresAt <= expiryTime(clock, key.readAt)) return this.refuse('expired');
    const environment = this.#options.environments.nameOf(key.environment ?? null);
    if (!this.isAccepted(environment, conditions)) return this.refuse('wrong_environment');
    if (key.addresses !== null) {
      const ip = conditions.clientIp();
      if (ip === undefined) return this.refuse('address_required');
      if (!this.#ranges.contain(key.addresses, ip)) return this.refuse('address_not_allowed');
    }
    this.#assertNoPendingScope(key.scopes);
    const granted = scopesInForce(key.scopes, key.needsRole === 1, key.ownerRole);
    const scopes = this.#options.pendingScopeChanges ? withoutWithheld(granted, key.withheld) : granted;
    if (!hasScopes(scopes, conditions.scopes)) return this.refuseForScopes(scopes, conditions.scopes);
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
  isAccepted(
    environment: string | undefined,
    { environments = this.#options.environments.byDefault }: Conditions,
  ): boolean {
    return environment === undefined || environments.includes(environment);
  }

  /** @throws DomainError `unavailable` when a change of one of the scopes is unfinished */
  #assertNoPendingScope(scopes: string): void {
    const { pendingScopeChanges: pending } = this.#options;
    if (pending === undefined || pending.isEmpty) return;
    for (const scope of scopes.split(' ')) pending.assertNone(scope);
  }

  refuse(code: Refusal): Refused {
    this.counts[code]++;
    return rejections[code];
  }

  refuseForScopes(held: string, wanted: readonly string[]): Refused {
    const scopes = held.split(' ');
    return { ...this.refuse('insufficient_scope'), missing: wanted.filter((scope) => !scopes.includes(scope)) };
  }
}
