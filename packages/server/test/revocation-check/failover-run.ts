/**
 * The failover runs: the revocation check on two instances and a cluster that Patroni manages, while its faults happen. Each
 * fault has a workload of its own, so that its figures are separate.
 */
import type { Violation } from '../../revocation-check/history.ts';
import type { Report } from '../../revocation-check/report.ts';
import { PatroniCluster } from '../../test-kit/patroni/patroni-cluster.ts';
import { Cluster } from './cluster.ts';
import { asFault, possibleFaults, type FailoverFault } from './failover-faults.ts';
import { ordinaryRun } from './mutant-run.ts';
import { onceAvailable, runWithFaults } from './run-with-faults.ts';
import { VerdictWatch, type Outage } from './verdict-watch.ts';

/** A quarter of that of other runs: several clusters run beside each other. */
const concurrency = 4;

/**
 * `stale`: what was observed contradicts an acknowledged change. `lost`: so does the state at the end of the run.
 * `unacknowledged`: a change without a response was observed, and then not, or earlier than it was requested again.
 */
export type ViolationKind = 'stale' | 'lost' | 'unacknowledged';

export function kindOf({ rule, explanation }: Violation, isAtEnd: boolean): ViolationKind {
  if (rule === 'deleted_twice') return 'lost';
  if (rule === 'came_back' || rule === 'refused_without_cause') return 'unacknowledged';
  if (rule !== 'list_disagrees' && rule !== 'audit_disagrees') return 'stale';
  if (!explanation.includes(' after the response to ')) return 'unacknowledged';
  return isAtEnd ? 'lost' : 'stale';
}

export interface FailoverResult {
  readonly fault: FailoverFault;
  readonly report: Report;
  readonly violations: Readonly<Record<ViolationKind, number>>;
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
    environment: { KEYREEVE_LOG_LEVEL: 'error', KEYREEVE_DATABASE_FAILOVER: 'unfenced' },
  });
  for (let round = 0; round < rounds; round++)
    for (const fault of faults ?? possibleFaults(patroni)) onResult(await runFailover(cluster, fault));
}

async function runFailover(cluster: Cluster, fault: FailoverFault): Promise<FailoverResult> {
  const { canaries } = cluster;
  const { secret } = await onceAvailable('a key is created', async () => {
    const { id } = await canaries.newAccount();
    return canaries.newCallerKey(id);
  });
  const watch = new VerdictWatch(cluster.urls, secret);
  let promotedMs: number | undefined = Infinity;
  const violations = { stale: 0, lost: 0, unacknowledged: 0 };
  try {
    const report = await runWithFaults(cluster, {
      ...ordinaryRun,
      concurrency,
      faults: [asFault(fault, (ms) => (promotedMs = ms))],
      onViolation: (violation, isAtEnd) => violations[kindOf(violation, isAtEnd)]++,
    });
    return { fault, report, violations, outage: await watch.stop(promotedMs) };
  } finally {
    await watch.stop(promotedMs);
  }
}
