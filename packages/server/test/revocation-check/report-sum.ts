/** Sums of the reports of several runs, for docs/proof-run.md. */
import { noKeyChanges, type KeyChangeCounts, type Report } from '../../revocation-check/report.ts';

export interface ReportSum {
  verifications: number;
  accepted: number;
  refused: number;
  unknown: number;
  /** Verifications that started after the response to a revocation of their key or account. */
  afterRevocation: number;
  deletions: number;
  /** By the kind of the key. */
  deletionsCreated: number;
  deletionsCaller: number;
  deletionsImported: number;
  deletionsUnknown: number;
  accountChanges: number;
  keyChanges: KeyChangeCounts;
  lists: number;
  violations: number;
  examples: string[];
  /** Null without violations. */
  acceptedAfterMsMax: number | null;
  refusedAfterMsMin: number | null;
  acceptedBeforeMsMin: number | null;
}

export const emptySum = (): ReportSum => ({
  verifications: 0,
  accepted: 0,
  refused: 0,
  unknown: 0,
  afterRevocation: 0,
  deletions: 0,
  deletionsCreated: 0,
  deletionsCaller: 0,
  deletionsImported: 0,
  deletionsUnknown: 0,
  accountChanges: 0,
  keyChanges: noKeyChanges,
  lists: 0,
  violations: 0,
  examples: [],
  acceptedAfterMsMax: null,
  refusedAfterMsMin: null,
  acceptedBeforeMsMin: null,
});

export function add(sum: ReportSum, report: Report): void {
  const { verifications, deletions } = report;
  sum.verifications += verifications.total;
  sum.accepted += verifications.accepted;
  sum.refused += verifications.refused;
  sum.unknown += verifications.unknown;
  sum.afterRevocation += verifications.afterRevocation;
  sum.deletions += deletions.acknowledged;
  sum.deletionsCreated += deletions.created;
  sum.deletionsCaller += deletions.caller;
  sum.deletionsImported += deletions.imported;
  sum.deletionsUnknown += deletions.unknown;
  sum.accountChanges += report.accountChanges;
  sum.keyChanges = sumOf(sum.keyChanges, report.keyChanges);
  sum.lists += report.lists;
  sum.violations += report.violations;
  sum.examples.push(...report.examples.map(({ rule, explanation }) => `${rule}: ${explanation}`));
  sum.acceptedAfterMsMax = combine(Math.max, sum.acceptedAfterMsMax, report.acceptedAfterMsMax);
  sum.refusedAfterMsMin = combine(Math.min, sum.refusedAfterMsMin, report.refusedAfterMsMin);
  sum.acceptedBeforeMsMin = combine(Math.min, sum.acceptedBeforeMsMin, report.acceptedBeforeMsMin);
}

function sumOf(a: KeyChangeCounts, b: KeyChangeCounts): KeyChangeCounts {
  const sum = { ...a };
  for (const name of Object.keys(a) as (keyof KeyChangeCounts)[]) sum[name] = a[name] + b[name];
  return sum;
}

const combine = (choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : choose(a, b);
