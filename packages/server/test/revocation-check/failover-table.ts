/** The table of the failover runs in docs/proof-run.md. */
import { failoverFaults, type FailoverFault } from './failover-faults.ts';
import type { FailoverResult, ViolationKind } from './failover-run.ts';

/** From the promotion of a new leader until every instance verifies keys again. */
const resumedSeconds = 5;

export interface FailoverSum {
  faults: number;
  deletions: number;
  afterRevocation: number;
  readonly violations: Record<ViolationKind, number>;
  withoutVerdictMsMax: number;
  sincePromotionMsMax: number;
  failures: number;
  readonly examples: string[];
}

export type FailoverSums = Map<string, FailoverSum>;

const emptySum = (): FailoverSum => ({
  faults: 0,
  deletions: 0,
  afterRevocation: 0,
  violations: { stale: 0, lost: 0, unacknowledged: 0 },
  withoutVerdictMsMax: 0,
  sincePromotionMsMax: 0,
  failures: 0,
  examples: [],
});

export function addFailover(sums: FailoverSums, { fault, report, violations, outage }: FailoverResult): void {
  const sum = sums.get(fault.name) ?? emptySum();
  sums.set(fault.name, sum);
  sum.faults++;
  sum.deletions += report.deletions.acknowledged;
  sum.afterRevocation += report.verifications.afterRevocation;
  for (const kind of Object.keys(violations) as ViolationKind[]) sum.violations[kind] += violations[kind];
  sum.withoutVerdictMsMax = Math.max(sum.withoutVerdictMsMax, outage.withoutVerdictMs);
  sum.sincePromotionMsMax = Math.max(sum.sincePromotionMsMax, outage.sincePromotionMs ?? 0);
  sum.failures += outage.failures;
  sum.examples.push(...report.examples.map(({ rule, explanation }) => `${fault.name}: ${rule}: ${explanation}`));
}

const columns = [
  'fault',
  'times',
  'deletions',
  'verifications that started after a revocation',
  'stale acceptances',
  'lost deletions',
  'contradictions of changes without a response',
  'longest time without a verdict',
  'from the promotion to verdicts of all instances, at most',
] as const;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const bold = (isWrong: boolean, text: string | number): string => (isWrong ? `**${text}**` : String(text));

/** @param wanted how often each fault was to happen */
export function failoverRows(sums: FailoverSums, wanted: number): readonly (readonly string[])[] {
  const rows = Object.values<FailoverFault>(failoverFaults).map(({ name, isUnnoticed = false }) => {
    const sum = sums.get(name);
    if (!sum) return [name, 'not tried', ...columns.slice(2).map(() => '')];
    const { faults, deletions, afterRevocation, withoutVerdictMsMax, sincePromotionMsMax } = sum;
    const { stale, lost, unacknowledged } = sum.violations;
    return [
      isUnnoticed ? `${name}; failed requests: ${bold(sum.failures > 0, sum.failures)}` : name,
      bold(faults < wanted, faults),
      String(deletions),
      String(afterRevocation),
      bold(stale > 0, stale),
      bold(lost > 0, lost),
      String(unacknowledged),
      seconds(withoutVerdictMsMax),
      sincePromotionMsMax === 0
        ? 'no promotion'
        : bold(sincePromotionMsMax > resumedSeconds * 1000, seconds(sincePromotionMsMax)),
    ];
  });
  return [columns, ...rows];
}

/** Whether no cell is marked as wrong. */
export const areRight = (rows: readonly (readonly string[])[]): boolean =>
  !rows.flat().some((cell) => cell.includes('**'));
