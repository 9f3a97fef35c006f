/** Durations in fixed buckets, so that the histograms of several processes can be added. */

/** Upper bounds in milliseconds of a verification, from 50 µs to 1 s. */
export const verificationBoundsMs = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 250, 1_000] as const;
/** Of a read of the database, or of a commit. */
export const databaseBoundsMs = [0.1, 0.5, 1, 5, 10, 50, 100, 500, 1_000, 5_000] as const;
/** Of a request. A password hash takes tens of milliseconds. Few, because each route and method has all of them. */
export const requestBoundsMs = [5, 25, 100, 500, 2_500, 10_000] as const;

export class LatencyHistogram {
  readonly boundsMs: readonly number[];
  /** The count of each bucket, the count beyond the last bound, and the sum of the durations in milliseconds. */
  readonly #values: Float64Array;

  constructor(boundsMs: readonly number[]) {
    this.boundsMs = boundsMs;
    this.#values = new Float64Array(boundsMs.length + 2);
  }

  /** On the hot path: two increments in one array. */
  add(ms: number): void {
    const bounds = this.boundsMs;
    const values = this.#values;
    let bucket = 0;
    while (bucket < bounds.length && ms > (bounds[bucket] ?? 0)) bucket++;
    values[bucket] = (values[bucket] ?? 0) + 1;
    values[bounds.length + 1] = (values[bounds.length + 1] ?? 0) + ms;
  }

  /** @returns all durations, which are then forgotten: another process adds them to its own */
  take(): Float64Array {
    const taken = this.#values.slice();
    this.#values.fill(0);
    return taken;
  }

  /** @param values what another histogram with the same bounds has returned from {@link take} */
  addAll(values: Float64Array): void {
    for (const [index, value] of values.entries()) this.#values[index] = (this.#values[index] ?? 0) + value;
  }

  /** By bucket, since the start. The last count is that of the durations beyond all bounds. */
  get counts(): number[] {
    return [...this.#values.subarray(0, -1)];
  }

  get sumMs(): number {
    return this.#values.at(-1) ?? 0;
  }
}

/** @returns the sum of the counts of each bucket */
export const sumOfCounts = (histograms: readonly (readonly number[])[]): number[] =>
  (histograms[0] ?? []).map((_, bucket) => histograms.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0));

/**
 * @returns the upper bound in milliseconds of the bucket with the quantile, or the last bound for longer durations; null
 *   without durations
 */
export function quantileMs(counts: readonly number[], boundsMs: readonly number[], quantile: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count;
    if (seen >= total * quantile) return boundsMs[bucket] ?? boundsMs.at(-1) ?? null;
  }
  return null;
}
