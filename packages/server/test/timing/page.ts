/** The page that `npm run timing` writes: `docs/timing.md`. */
import type { Interval } from './auc.ts';

/** How well response times distinguish two kinds of requests. */
export interface Measurement {
  readonly mediansMs: readonly [number, number];
  readonly auc: number;
  /** 95 %, by bootstrap. */
  readonly interval: Interval;
}

export interface Comparison {
  readonly trial: string;
  readonly kinds: readonly [string, string];
  readonly measured: Measurement;
  /** Of the requests that followed these. Undefined for kinds that must differ. */
  readonly next: Measurement | undefined;
  /** Whether the result is as required: no difference or, for kinds that must differ, a difference. */
  readonly isMet: boolean;
}

export interface Run {
  readonly count: number;
  readonly minutes: number;
  readonly machine: string;
  /** Load averages over 1, 5 and 15 minutes. */
  readonly loadBefore: string;
  readonly loadAfter: string;
  readonly bar: Interval;
  readonly comparisons: readonly Comparison[];
}

export function timingPage(run: Run): string {
  const { count, minutes, machine, loadBefore, loadAfter, bar, comparisons } = run;
  const trials = comparisons.map(({ trial }) => trial);
  const rows = comparisons.map((comparison, index) =>
    timingRow({ ...comparison, trial: trials[index - 1] === comparison.trial ? '' : comparison.trial }),
  );
  return `# Can response times show who has an account?

Can a client find out from response times which email addresses have an account?
${conclusion(comparisons)}

| endpoint | kinds of requests | medians in ms | AUC (95 %) | next request, ms | AUC (95 %) | result |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

**AUC** is the share of pairs in which the second kind takes longer; 0.5 means no difference. The result is “equal” if the 95 %
intervals (1,000 bootstrap draws) lie between ${bar.from} and ${bar.to}. The next request shows work that continues after a response. The
responses of equal kinds have the same bytes except the date and the request id.

## The measurement

\`npm run timing -- --count ${count}\` wrote this page in ${minutes.toFixed(1)} minutes.

- ${machine}
- load average over 1, 5 and 15 minutes: ${loadBefore} before; ${loadAfter} after
- one service on the embedded database, without rate limits
- one client on the same machine, one request at a time, in random order
- ${count} requests of each kind, three times as many where no password is hashed

## What it cannot show

Noise on the machine hides differences within the interval, and an attacker can send more requests. The requests without a
password show that the measurement detects differences.

The [rate limits](limits.md#accounts) permit only a few sign-ups and resets per email address in an hour.
`;
}

export function timingRow({ trial, kinds, measured, next, isMet }: Comparison): string {
  const required = next ? 'equal' : 'different, as expected';
  const cells = [trial, kinds.join(' / '), ...cellsOf(measured), ...(next ? cellsOf(next) : ['–', '–'])];
  return `| ${cells.join(' | ')} | ${isMet ? required : '**missed**'} |`;
}

const cellsOf = ({ mediansMs, auc, interval }: Measurement): string[] => [
  mediansMs.map((value) => value.toFixed(2)).join('/'),
  `${auc.toFixed(3)} (${interval.from.toFixed(3)}–${interval.to.toFixed(3)})`,
];

const conclusion = (comparisons: readonly Comparison[]): string =>
  comparisons.every(({ isMet }) => isMet)
    ? 'No: at sign-in, sign-up and password reset, the times are equal within the bounds below.'
    : 'Yes, in the rows with the result “missed”.';
