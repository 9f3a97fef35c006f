/** Durations in 12 fixed buckets, so that the histograms of several processes can be added. */
import { monotonicMs } from './clock.ts';

/** Upper bounds in milliseconds. The last bucket has longer durations too. */
export const latencyBoundsMs = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000] as const;

export class LatencyHistogram {
  /** By bucket, since the start. */
  readonly counts: number[] = latencyBoundsMs.map(() => 0);

  /** @returns `answer`, which also adds the time from this call to its own */
  timed<T>(answer: (value: T) => void): (value: T) => void {
    const startedMs = monotonicMs();
    return (value) => {
      this.add(monotonicMs() - startedMs);
      answer(value);
    };
  }

  add(ms: number): void {
    let bucket = 0;
    while (bucket < latencyBoundsMs.length - 1 && ms > (latencyBoundsMs[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
  }
}

/** @returns the upper bound in milliseconds of the bucket with the quantile; null without durations */
export function quantileMs(counts: readonly number[], quantile: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count;
    if (seen >= total * quantile) return latencyBoundsMs[bucket] ?? null;
  }
  return null;
}
