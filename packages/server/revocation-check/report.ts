/** What a proof found: the checker’s summary, as commands print it. */
import type { LatencySummary } from './latencies.ts';
import type { Violation } from './history.ts';

export interface Report {
  readonly verifications: {
    readonly total: number;
    readonly accepted: number;
    readonly refused: number;
    /** No answer, or 503: neither yes nor no. */
    readonly unknown: number;
    /** Those that started after the answer of a deletion or a disabling that concerned them. */
    readonly afterRevocation: number;
  };
  readonly deletions: {
    /** Answered with success. */
    readonly acknowledged: number;
    /** Without an answer. */
    readonly unknown: number;
    /** Of those that were acknowledged, by how the key came to be. */
    readonly created: number;
    readonly caller: number;
    readonly imported: number;
  };
  /** Accounts disabled or enabled, as far as it was acknowledged. */
  readonly accountChanges: number;
  readonly lists: number;
  /** All of them. */
  readonly violations: number;
  /** The first of them. */
  readonly examples: readonly Violation[];
  /** Longest time from a revocation’s answer to an acceptance that started later. Null: there was none, as it must be. */
  readonly acceptedAfterMsMax: number | null;
  /** Shortest time from a deletion’s answer to a verification that started later, and was refused. */
  readonly refusedAfterMsMin: number | null;
  /** Shortest time from the start of the last acceptance to the deletion’s answer: how close the proof came. */
  readonly acceptedBeforeMsMin: number | null;
  readonly verifyLatency: LatencySummary;
  readonly deleteLatency: LatencySummary;
}
