/** What a verification requires of a credential, and its results. */
import type { Refusal } from '@keyreeve/contract';
import type { CanaryPrincipal } from '../../foundation/principal.ts';
import type { Span } from '../../foundation/tracing.ts';
import type { ServiceCaller } from '../../http/route.ts';
import type { KeyState } from '../api-keys/state-store.ts';
import type { LimitOutcome } from '../key-limits/key-limits.ts';

export interface AcceptedKey {
  readonly valid: true;
  readonly type: 'api_key';
  readonly accountId: string;
  readonly keyId: number;
  readonly nickname: string;
  readonly addresses: string | null;
  /** JSON; null: none. */
  readonly metadata: string | null;
  /** Undefined if none is configured. */
  readonly environment: string | undefined;
  /** Separated by spaces. */
  readonly scopes: string;
  /** Milliseconds. */
  readonly expiresAt: number | null;
  readonly issuedAt: number;
  /** Of a key with limits. */
  readonly outcome?: LimitOutcome;
}

export interface AcceptedToken {
  readonly valid: true;
  readonly type: 'access_token';
  readonly accountId: string;
  /** The first one; undefined if none is configured. */
  readonly environment: string | undefined;
  readonly expiresAt: number;
  readonly issuedAt: number;
}

export interface Refused {
  readonly valid: false;
  readonly code: Refusal;
  /** With `insufficient_scope`: the required scopes that the credential lacks. */
  readonly missing?: readonly string[];
  /** With `rate_limited` and `quota_exceeded`. */
  readonly outcome?: LimitOutcome;
}

export type VerificationResult = AcceptedKey | AcceptedToken | Refused;

/** Of one credential in a batch. `unavailable`: the database did not answer, or a change of unknown outcome is pending. */
export type BatchVerificationResult = VerificationResult | { readonly valid: false; readonly code: 'unavailable' };

/** Either this or {@link Fail} is called, exactly once. */
export type Answer = (result: VerificationResult) => void;
/** Called with DomainError `unavailable`. */
export type Fail = (error: unknown) => void;

/** What the request requires of the credential. */
export interface Conditions {
  /**
   * The IP address of the client that presents the credential; undefined if it is not known. Called only for a key that is
   * limited to IP ranges, and when a last use is recorded.
   */
  readonly clientIp: () => string | undefined;
  /** The credential needs all of them. */
  readonly scopes: readonly string[];
  /** Accepted environments. Default: the first one. */
  readonly environments?: readonly string[] | undefined;
  /** What the verification spends of the limits of the key and its account; 0 only checks them. Default 1. */
  readonly cost?: number;
  /** Of the recorded request. Default: the one of the current share. */
  readonly span?: Span | undefined;
  /** Whether the limits of the key and its account do not apply, because the key authenticates the caller of a route. */
  readonly isUnlimited?: boolean;
  /** Whether the caller may verify the key: another one has the result of an unknown key. Default: every key and token. */
  readonly mayVerify?: ((key: KeyState) => boolean) | undefined;
  /**
   * The caller that restricts the verification, if it is not authenticated yet. Until it is known, the verification only
   * reads: it spends, records and counts nothing. Its failure fails the verification.
   */
  readonly restriction?: ServiceCaller | undefined;
}

/** A credential of a batch. */
export interface Question {
  readonly text: string;
  readonly conditions?: Conditions;
}

/** A canary credential verifies its canary keys only, from their IP address, and spends no limit. */
export const restrictedTo = (canary: CanaryPrincipal, conditions: Conditions): Conditions => ({
  ...conditions,
  clientIp: () => canary.address,
  isUnlimited: true,
  mayVerify: ({ accountId, addresses, scopes }) =>
    accountId === canary.accountId && addresses === canary.addresses && scopes === '',
});

/** Calls `known` with the conditions when the caller is known, or `fail` with the cause of its rejection. */
export function whenRestricted(conditions: Conditions, known: (conditions: Conditions) => void, fail: Fail): void {
  const { restriction } = conditions;
  if (restriction) restriction.when((canary) => known(canary ? restrictedTo(canary, conditions) : conditions), fail);
  else known(conditions);
}

/** {@link whenRestricted} as a promise. */
export const restricted = (conditions: Conditions): Promise<Conditions> =>
  new Promise((resolve, reject) => whenRestricted(conditions, resolve, reject));

export const unconditional: Conditions = { clientIp: () => undefined, scopes: [] };
