/**
 * What a proof records: operations, each with its start and its end on one clock, that of the process that recorded
 * them. A start is taken before the request is sent, an end after its answer has arrived, so whatever the service did
 * for it lies between the two.
 */

/** Milliseconds of `monotonicMs`. */
export interface Interval {
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * What a verification said. `refused` is a refusal without its reason, as proxies get it; `mistaken` an answer about
 * another key than the one that was asked about; `unknown` no answer, or one that says neither yes nor no (503).
 */
export type Verdict = 'accepted' | 'refused' | 'not_found' | 'disabled' | 'mistaken' | 'unknown';

export interface Verification extends Interval {
  readonly verdict: Verdict;
  /** What was asked and whom, for explanations: `POST /auth/verify at http://a`. */
  readonly source: string;
}

/**
 * How a deletion ended: `not_found` tells that the key was dead by then, `refused` that nothing was done (401), and
 * `unknown` that it may take effect at any time after its start, or never.
 */
export type DeletionOutcome = 'deleted' | 'not_found' | 'refused' | 'unknown';

/** A deletion from its start on. Its end is infinite while it runs, and for ever when its outcome is unknown. */
export interface Deletion {
  readonly startedAt: number;
  readonly source: string;
  endedAt: number;
  outcome: DeletionOutcome | 'running';
}

/** How a key came to be: over HTTP, with the scope of a service beside it, or imported. */
export type KeyKind = 'created' | 'caller' | 'imported';

export type AccountState = 'enabled' | 'disabled';

/** An account being disabled or enabled, from its start on; with the same infinite end. */
export interface AccountChange {
  readonly to: AccountState;
  readonly startedAt: number;
  readonly source: string;
  endedAt: number;
  /** The earliest end of what saw its effect: it took effect before that. */
  seenBy: number;
}

/** Somebody saw the state of a key or an account: at one moment of the interval it was so. */
export interface Observation extends Interval {
  readonly by: 'verification' | 'list' | 'audit trail' | 'deletion';
  readonly source: string;
  /** As it is told in an explanation: `accepted`. */
  readonly saw: string;
}

/** In words, by what they forbid. */
export const rules = {
  accepted_after_deletion: 'a verification that started after the deletion’s answer was accepted',
  accepted_while_disabled: 'a verification that started after the disabling’s answer was accepted',
  refused_without_cause: 'a key was refused that nobody had asked to delete or to disable',
  came_back: 'a key that had been refused was accepted again',
  deleted_twice: 'one key was deleted twice',
  list_disagrees: 'a list shows a deleted key or lacks a live one',
  audit_disagrees: 'the audit trail doesn’t record exactly the deletions that took effect',
  mistaken_identity: 'a verification was answered with another key’s identity',
} as const;

export type Rule = keyof typeof rules;

export interface Violation {
  readonly rule: Rule;
  /** Names the key and both operations with their times. */
  readonly explanation: string;
}

/** An operation's place and time, for explanations. Milliseconds since the recording process started. */
export function tell({ source, startedAt, endedAt }: Interval & { readonly source: string }): string {
  const end = endedAt === Infinity ? 'no answer yet' : `${endedAt.toFixed(3)} ms`;
  return `${source} [${startedAt.toFixed(3)} ms … ${end}]`;
}
