/** A run with limits on a new cluster, and what it must have accepted. */
import assert from 'node:assert/strict';
import { Cluster, type ClusterOptions } from '../revocation-check/cluster.ts';
import type { LimitFault } from './limit-faults.ts';
import { runLimits } from './limit-run.ts';

const quota = Number(process.env['KEYREEVE_TEST_QUOTA'] ?? 600);
const runs = Number(process.env['KEYREEVE_TEST_RUNS'] ?? 1);
const isLong = runs > 1;
const bounds = { quota, connections: isLong ? 200 : 24, pauseMs: isLong ? 2_000 : 200 } as const;

/** @throws AssertionError if more than a limit was accepted, or nothing */
export async function assertKeepsLimits(options: ClusterOptions, faults: readonly LimitFault[]): Promise<void> {
  for (let run = 0; run < runs; run++) {
    await using cluster = await Cluster.start(options);
    const report = await runLimits(cluster, { ...bounds, faults });
    assert.deepEqual(report.violations, [], JSON.stringify(report));
    assert.ok(report.accepted > 0 && report.acceptedOfRate > 0, JSON.stringify(report));
  }
}
