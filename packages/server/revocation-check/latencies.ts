/** A histogram of durations in constant memory: each bucket is 2 % wider than the previous one. */

const growth = Math.log(1.02);
/** A microsecond, which also counts shorter durations. */
const msMin = 0.001;
/** Up to 100 s, which also counts longer durations. */
const buckets = Math.ceil(Math.log(100_000 / msMin) / growth) + 1;

export interface LatencySummary {
  readonly count: number;
  /** Null without durations. Accurate to 2 %. */
  readonly msP50: number | null;
  readonly msP99: number | null;
}

export class Latencies {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;

  add(ms: number): void {
    const bucket = Math.ceil(Math.log(Math.max(ms, msMin) / msMin) / growth);
    const index = Math.min(bucket, buckets - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count++;
  }

  summary(): LatencySummary {
    return { count: this.#count, msP50: this.#quantile(0.5), msP99: this.#quantile(0.99) };
  }

  #quantile(share: number): number | null {
    if (this.#count === 0) return null;
    let remaining = share * this.#count;
    const bucket = this.#counts.findIndex((count) => (remaining -= count) <= 0);
    return Number((msMin * Math.exp(bucket * growth)).toFixed(3));
  }
}
