/** One run of the proof: the workload on a cluster while faults happen, until enough was seen; then the checker's verdict. */
import type { Report } from '../../revocation-check/report.ts';
import { Workload, type WorkloadOptions } from '../../revocation-check/workload.ts';
import type { Cluster } from './cluster.ts';
import type { Fault } from './faults.ts';
import { until } from './until.ts';

export interface ProofRunOptions {
  readonly faults: Iterable<Fault>;
  /** Deletions acknowledged before the first fault and after each. */
  readonly deletionsBetween: number;
  readonly standstillMs: number;
  readonly concurrency: number;
  /** Of the workload. */
  readonly more?: Pick<WorkloadOptions, 'asksMax' | 'floods'>;
  /** Ends the run between two faults. */
  readonly isOver?: (violations: number) => boolean;
  /** After each fault. */
  readonly onFault?: (fault: Fault) => void;
}

const progressMsMax = 300_000;
/** Longer than any answer may take that is still to come. */
const answerMsMax = 15_000;

/** @throws Error when a fault can't be seen to happen, or no deletion comes through after it */
export async function runProof(cluster: Cluster, options: ProofRunOptions): Promise<Report> {
  const { faults, deletionsBetween, standstillMs, concurrency, more, isOver = () => false, onFault } = options;
  const { canaries, urls: instances } = cluster;
  const workload = await Workload.prepare({ instances, canaries, concurrency, timeoutMs: answerMsMax, ...more });
  const { checker } = workload;
  const end = new AbortController();
  const running = workload.run({ signal: end.signal });
  let failure: unknown;
  running.catch((error: unknown) => (failure = error));
  const progress = async (): Promise<void> => {
    const enough = checker.deletions + deletionsBetween;
    const isStuck = (): boolean => failure !== undefined || isOver(checker.violations);
    await until('deletions are acknowledged', progressMsMax, () => isStuck() || checker.deletions >= enough);
  };
  try {
    await progress();
    for (const fault of faults) {
      if (failure !== undefined || isOver(checker.violations)) break;
      await fault.happen(cluster, { standstillMs, progress });
      await cluster.heal();
      await progress();
      onFault?.(fault);
    }
  } finally {
    await cluster.heal();
    end.abort();
    await running;
    workload.close();
  }
  return workload.finish();
}
