/**
 * The failover runs: the revocation check on two instances and a cluster that Patroni manages, while its faults happen. Each
 * fault has a workload of its own, so that its figures are separate.
 */
import type { Rule } from '../../revocation-check/history.ts';
import type { Report } from '../../revocation-check/report.ts';
import { PatroniCluster } from '../../test-kit/patroni/patroni-cluster.ts';
import { Cluster } from './cluster.ts';
import { asFault, possibleFaults, type FailoverFault } from './failover-faults.ts';
import { ordinaryRun } from './mutant-run.ts';
import { runWithFaults } from './run-with-faults.ts';
import { VerdictWatch, type Outage } from './verdict-watch.ts';

const ofStale: readonly Rule[] = [
  'accepted_after_deletion',
  'accepted_while_disabled',
  'accepted_after_narrowing',
  'came_back',
];
const ofLost: readonly Rule[] = ['deleted_twice', 'list_disagrees', 'audit_disagrees'];

export interface FailoverResult {
  readonly fault: FailoverFault;
  readonly report: Report;
  /** Verifications that accepted what had been rejected, or what had to be rejected. */
  readonly stale: number;
  /** Acknowledged deletions that the new leader lacks: lists, the audit log or a second deletion show them. */
  readonly lost: number;
  readonly outage: Outage;
}

export interface FailoverRunOptions {
  /** How often each fault happens. */
  readonly rounds: number;
  /** Default: all that are possible. */
  readonly faults?: readonly FailoverFault[] | undefined;
  readonly onResult: (result: FailoverResult) => void;
}

/** Starts a cluster, and injects its faults in turn. */
export async function runFailovers({ rounds, faults, onResult }: FailoverRunOptions): Promise<void> {
  await using patroni = await PatroniCluster.start();
  await using cluster = await Cluster.start({
    instances: 2,
    postgres: patroni,
    environment: { KEYREEVE_LOG_LEVEL: 'error' },
  });
  for (let round = 0; round < rounds; round++)
    for (const fault of faults ?? possibleFaults(patroni)) onResult(await runFailover(cluster, fault));
}

async function runFailover(cluster: Cluster, fault: FailoverFault): Promise<FailoverResult> {
  const { id } = await cluster.canaries.newAccount();
  const { secret } = await cluster.canaries.newCallerKey(id);
  const watch = new VerdictWatch(cluster.urls, secret);
  let promotedMs = Infinity;
  let [stale, lost] = [0, 0];
  try {
    const report = await runWithFaults(cluster, {
      ...ordinaryRun,
      faults: [asFault(fault, (ms) => (promotedMs = ms))],
      onFinished: (checker) => {
        const count = (rules: readonly Rule[]): number =>
          rules.reduce((sum, rule) => sum + checker.violationsOf(rule), 0);
        [stale, lost] = [count(ofStale), count(ofLost)];
      },
    });
    return { fault, report, stale, lost, outage: await watch.stop(promotedMs) };
  } finally {
    await watch.stop(promotedMs);
  }
}
