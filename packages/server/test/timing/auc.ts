/**
 * How well one number tells two groups apart: the area under the curve of the best classifier by threshold, which is
 * the Mann–Whitney statistic. 0.5 is chance; 0 and 1 are certainty.
 */
import { randomInt } from 'node:crypto';

/** The share of pairs in which the number from `second` is the larger; equal ones count half. */
export function aucOf(first: Float64Array, second: Float64Array): number {
  const a = first.toSorted();
  const b = second.toSorted();
  let smaller = 0;
  let notLarger = 0;
  let sum = 0;
  for (const value of b) {
    while (smaller < a.length && (a[smaller] as number) < value) smaller++;
    while (notLarger < a.length && (a[notLarger] as number) <= value) notLarger++;
    sum += (smaller + notLarger) / 2;
  }
  return sum / (a.length * b.length);
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** What the statistic varies over when the groups are drawn anew from themselves: the middle 95 % of `times` draws. */
export function bootstrap(first: Float64Array, second: Float64Array, times = 1_000): Interval {
  const draws = Float64Array.from({ length: times }, () => aucOf(redrawn(first), redrawn(second))).toSorted();
  const at = (share: number): number => draws[Math.min(times - 1, Math.floor(share * times))] as number;
  return { from: at(0.025), to: at(0.975) };
}

const redrawn = (group: Float64Array): Float64Array => group.map(() => group[randomInt(group.length)] as number);

export function median(values: Float64Array): number {
  const sorted = values.toSorted();
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
