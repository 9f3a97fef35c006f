/**
 * What a revocation check records: operations, each with its start and its end on one monotonic clock, that of the recording
 * process. The start is taken before the request is sent, the end after the response has arrived, so the operation takes
 * effect between the two.
 */

/** Milliseconds of `monotonicMs`. */
export interface Interval {
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The result of a verification. `rejected` is a rejection without a reason, as proxies get it. `address`: not valid from the
 * client IP. `scope`: valid, without the scope. `forbidden`: either of the two. `wrong_key` is a result about another key.
 * `unknown` is a missing response, or one that leaves the validity open (503).
 */
export type ObservedResult =
  | 'accepted'
  | 'rejected'
  | 'not_found'
  | 'disabled'
  | 'expired'
  | 'address'
  | 'scope'
  | 'forbidden'
  | 'wrong_key'
  | 'unknown';

export interface Verification extends Interval {
  readonly result: ObservedResult;
  /** The request and the instance, for explanations: `POST /auth/verify at http://a`. */
  readonly source: string;
}

/**
 * The outcome of a deletion. `not_found`: the key was deleted before. `rejected`: the request had no effect (401). `unknown`:
 * it may take effect at any time after its start, or never.
 */
export type DeletionOutcome = 'deleted' | 'not_found' | 'rejected' | 'unknown';

/** `endedAt` is infinite while the deletion runs, and stays infinite if its outcome is unknown. */
export interface Deletion {
  readonly startedAt: number;
  readonly source: string;
  endedAt: number;
  outcome: DeletionOutcome | 'running';
}

/** How a key was created: over HTTP, in the database with the scope of a caller, or by an import. */
export type KeyKind = 'created' | 'caller' | 'imported';

export type AccountState = 'enabled' | 'disabled';

/** A condition of a verification becomes met or unmet. `endedAt` is infinite as in `Deletion`. */
export interface Change {
  readonly to: 'met' | 'unmet';
  readonly source: string;
  startedAt: number;
  endedAt: number;
  /** The earliest end of an operation that observed the change: it took effect before that. */
  observedBy: number;
}

/**
 * What a request changes of a key, of all keys with a scope, that trust an issuer or that a program made, of a request of a
 * program, or of portal sessions; `widened`: it only adds rights again.
 */
export type KeyChangeKind =
  | 'disabled'
  | 'scope'
  | 'addresses'
  | 'expiry'
  | 'rotated'
  | 'previousEnded'
  | 'publicKeyEnded'
  | 'trustEnded'
  | 'issuerNarrowed'
  | 'issuerRemoved'
  | 'issuerRefreshed'
  | 'programRemoved'
  | 'approvalDenied'
  | 'portalSessionEnded'
  | 'leaked'
  | 'entitlement'
  | 'scopeMarked'
  | 'scopeDeleted'
  | 'widened';

/** `rejected`: the request had no effect. `unknown`: it may take effect at any time after its start, or never. */
export type ChangeOutcome = 'changed' | 'rejected' | 'unknown';

/** The observed state of a condition: it was true at one moment of the interval, at least. */
export interface Observation extends Interval {
  readonly by: 'verification' | 'list' | 'audit log' | 'deletion';
  readonly source: string;
  /** For explanations: `accepted`. */
  readonly observed: string;
}

/** What violates each rule. */
export const rules = {
  accepted_after_deletion: 'a verification that started after the deletion’s response was accepted',
  accepted_while_disabled: 'a verification that started after the response to the disabling was accepted',
  accepted_after_narrowing:
    'a verification was accepted that started after the response to a change of the key, or after the end of a secret',
  refused_without_cause: 'a key was rejected without a request that explains it',
  came_back: 'a key was accepted after it had been rejected',
  exchanged_twice: 'one identity token that is accepted once, or one device code, was exchanged twice',
  deleted_twice: 'two deletions of one key succeeded',
  list_disagrees: 'a list contains a deleted key or lacks a valid key',
  audit_disagrees: 'the audit log does not record exactly the deletions that took effect',
  mistaken_identity: 'a verification returned the identity of another key',
} as const;

export type Rule = keyof typeof rules;

export interface Violation {
  readonly rule: Rule;
  /** Names the key and both operations with their times. */
  readonly explanation: string;
}

/** An operation and its times, for explanations. Milliseconds since the recording process started. */
export function describe({ source, startedAt, endedAt }: Interval & { readonly source: string }): string {
  const end = endedAt === Infinity ? 'no response' : `${endedAt.toFixed(3)} ms`;
  return `${source} [${startedAt.toFixed(3)} ms … ${end}]`;
}

/** The time from the end of one operation to the start of a later one. */
export const gap = (from: Interval['endedAt'], to: Interval['startedAt']): string => `${(to - from).toFixed(3)} ms`;
