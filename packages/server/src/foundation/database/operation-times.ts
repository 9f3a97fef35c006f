/** What the operations of a database took, and how many reads failed. Each driver counts them, for metrics. */
import { databaseBoundsMs, LatencyHistogram } from '../latency-histogram.ts';

export type DatabaseOperation = 'read' | 'commit';

export class OperationTimes {
  /** A read that verifications share, and a commit that changes share. */
  readonly byOperation: Readonly<Record<DatabaseOperation, LatencyHistogram>> = {
    read: new LatencyHistogram(databaseBoundsMs),
    commit: new LatencyHistogram(databaseBoundsMs),
  };
  /** Reads that failed. `WriteHealth` counts commits. */
  failedReads = 0;

  observe: (operation: DatabaseOperation, ms: number) => void = (operation, ms) => this.byOperation[operation].add(ms);
}
