/** What a verification requires of a credential, and its results. */
import type { Refusal } from '@keyreeve/contract';
import type { Span } from '../../foundation/tracing.ts';
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
   * Of a caller that is not authenticated yet. Until it is fulfilled, the verification only reads: it spends, records and
   * counts nothing. A rejection fails the verification with its cause.
   */
  readonly restriction?: Promise<Restriction | undefined> | undefined;
}

/** What replaces the conditions that a request states, because its caller may verify some keys only. */
export interface Restriction extends Pick<Conditions, 'clientIp'> {
  readonly isUnlimited: boolean;
  readonly mayVerify: (key: KeyState) => boolean;
}

/** A credential of a batch. */
export interface Question {
  readonly text: string;
  readonly conditions?: Conditions;
}

/** The conditions when the caller is known. @throws the cause of its rejection */
export async function restricted(conditions: Conditions): Promise<Conditions> {
  const restriction = await conditions.restriction;
  return { ...conditions, ...restriction, restriction: undefined };
}

export const unconditional: Conditions = { clientIp: () => undefined, scopes: [] };
