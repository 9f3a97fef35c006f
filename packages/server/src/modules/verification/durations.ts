/**
 * Durations of verifications by endpoint: from the complete request, or that of the batch, to the result. Requests without a
 * credential are not measured.
 */
import { LatencyHistogram, sumOfCounts, verificationBoundsMs } from '../../foundation/latency-histogram.ts';

export type VerificationEndpoint = 'forward' | 'verify' | 'verify_batch' | 'introspect';

const newHistogram = (): LatencyHistogram => new LatencyHistogram(verificationBoundsMs);

export class VerificationDurations {
  readonly byEndpoint: Readonly<Record<VerificationEndpoint, LatencyHistogram>> = {
    forward: newHistogram(),
    verify: newHistogram(),
    verify_batch: newHistogram(),
    introspect: newHistogram(),
  };

  /** Of all endpoints, by bucket. */
  get counts(): number[] {
    return sumOfCounts(Object.values(this.byEndpoint).map(({ counts }) => counts));
  }
}
