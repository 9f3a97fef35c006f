/** What a revocation check found: the checker’s summary. The members are those of `keyreeve prove-revocation --json`. */
import type { LatencySummary } from './latencies.ts';
import type { KeyChangeKind, Violation } from './history.ts';

export interface Report {
  readonly verifications: {
    readonly total: number;
    readonly accepted: number;
    /** Rejected. */
    readonly refused: number;
    /** Without a response, or with 503. */
    readonly unknown: number;
    /** Those that started after the response to a deletion, or to another change after which they must be rejected. */
    readonly afterRevocation: number;
  };
  readonly deletions: {
    /** With a response of success. */
    readonly acknowledged: number;
    /** Without a response, or with 503. */
    readonly unknown: number;
    /** The acknowledged ones by the kind of the key. */
    readonly created: number;
    readonly caller: number;
    readonly imported: number;
  };
  /** Acknowledged changes of accounts, disabled or enabled. */
  readonly accountChanges: number;
  /** Acknowledged changes of keys; the named ones take rights away. */
  readonly keyChanges: Readonly<Record<'acknowledged' | 'unknown' | KeyChangeKind, number>>;
  readonly lists: number;
  readonly violations: number;
  /** The first violations. */
  readonly examples: readonly Violation[];
  /** Longest time from a revocation’s response to the start of an accepted verification. Null, without violations. */
  readonly acceptedAfterMsMax: number | null;
  /** Shortest time from a revocation’s response to the start of a rejected verification. */
  readonly refusedAfterMsMin: number | null;
  /** Shortest time from the start of the last accepted verification to the deletion’s response. */
  readonly acceptedBeforeMsMin: number | null;
  readonly verifyLatency: LatencySummary;
  readonly deleteLatency: LatencySummary;
}
