/** What a revocation check found: the checker’s summary. The members are those of `keyreeve prove-revocation --json`. */
import type { LatencySummary } from './latencies.ts';
import type { KeyChangeKind, Violation } from './history.ts';

/** The acknowledged changes of keys, together and by kind, and those with an unknown outcome. */
export type KeyChangeCounts = Readonly<Record<'acknowledged' | 'unknown' | KeyChangeKind, number>>;

export const noKeyChanges: KeyChangeCounts = {
  acknowledged: 0,
  unknown: 0,
  disabled: 0,
  scope: 0,
  addresses: 0,
  expiry: 0,
  rotated: 0,
  previousEnded: 0,
  publicKeyEnded: 0,
  trustEnded: 0,
  issuerNarrowed: 0,
  issuerRemoved: 0,
  issuerRefreshed: 0,
  programRemoved: 0,
  approvalDenied: 0,
  portalSessionEnded: 0,
  leaked: 0,
  entitlement: 0,
  scopeMarked: 0,
  scopeDeleted: 0,
  widened: 0,
};

/** @returns the number of acknowledged changes that remove rights */
export const narrowingsIn = ({ acknowledged, widened }: KeyChangeCounts): number => acknowledged - widened;

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
  readonly keyChanges: KeyChangeCounts;
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
