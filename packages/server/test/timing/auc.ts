/**
 * The area under the ROC curve of the classifier by threshold, which equals the Mann–Whitney statistic: 0.5 if two groups are
 * indistinguishable, 0 or 1 if a threshold separates them.
 */
import { randomInt } from 'node:crypto';

/** The share of pairs in which the number of `second` is larger; equal pairs count half. */
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

/** The 95 % confidence interval of the AUC, from `times` bootstrap samples of both groups. */
export function bootstrap(first: Float64Array, second: Float64Array, times = 1_000): Interval {
  const samples = Float64Array.from({ length: times }, () => aucOf(resample(first), resample(second))).toSorted();
  const at = (share: number): number => samples[Math.min(times - 1, Math.floor(share * times))] as number;
  return { from: at(0.025), to: at(0.975) };
}

const resample = (group: Float64Array): Float64Array => group.map(() => group[randomInt(group.length)] as number);

export function median(values: Float64Array): number {
  const sorted = values.toSorted();
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
