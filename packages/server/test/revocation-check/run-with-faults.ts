/** Runs the workload of the revocation check on a cluster while faults happen. */
import type { Violation } from '../../revocation-check/history.ts';
import type { Report } from '../../revocation-check/report.ts';
import { Workload, type WorkloadOptions } from '../../revocation-check/workload.ts';
import { isUnavailable } from '../../src/foundation/database/unavailable.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { until } from '../../test-kit/until.ts';
import type { Cluster } from './cluster.ts';
import { runRefreshScenario } from './refresh-scenario.ts';
import type { Fault } from './faults.ts';

export interface FaultRunOptions {
  readonly faults: Iterable<Fault>;
  /** Acknowledged deletions before the first fault and after each. */
  readonly deletionsBetween: number;
  /** Acknowledged changes that remove rights of keys, before the first fault and after each. Default: {@link narrowingsDefault}. */
  readonly narrowingsBetween?: number;
  readonly faultMs: number;
  readonly concurrency: number;
  readonly workload?: Pick<WorkloadOptions, 'probesMax' | 'batchClients'>;
  /** Ends the run between two faults. */
  readonly isOver?: (violations: number) => boolean;
  /** Called after each fault. */
  readonly onFault?: (fault: Fault) => void;
  /** @param isAtEnd whether lists or the audit log show it, after the last verification */
  readonly onViolation?: (violation: Violation, isAtEnd: boolean) => void;
}

export const narrowingsDefault = 1;

/** @throws Error if a fault has no observable effect, or no deletion or change that removes rights is acknowledged after it */
export async function runWithFaults(cluster: Cluster, options: FaultRunOptions): Promise<Report> {
  const { faults, deletionsBetween, faultMs, concurrency, isOver = () => false, onFault } = options;
  const { narrowingsBetween = narrowingsDefault } = options;
  const { canaries, urls: instances, verificationUrls } = cluster;
  const workload = await onceAvailable('the accounts of the workload are created', () =>
    Workload.prepare({
      instances,
      verificationUrls,
      canaries,
      concurrency,
      timeoutMs: programMsMax,
      scenarios: [(more) => runRefreshScenario(cluster, more)],
      ...options.workload,
    }),
  );
  const { checker } = workload;
  let isAtEnd = false;
  checker.onViolation = (violation) => options.onViolation?.(violation, isAtEnd);
  const end = new AbortController();
  const running = workload.run({ signal: end.signal });
  let failure: unknown;
  running.catch((error: unknown) => (failure = error));
  const progress = async (narrowings = 0): Promise<void> => {
    const enough = checker.deletions + deletionsBetween;
    const enoughNarrowings = checker.narrowings + narrowings;
    const hasEnded = (): boolean => failure !== undefined || isOver(checker.violations);
    await until('deletions and changes of keys are acknowledged', () => {
      return hasEnded() || (checker.deletions >= enough && checker.narrowings >= enoughNarrowings);
    });
  };
  try {
    await progress(narrowingsBetween);
    for (const fault of faults) {
      if (failure !== undefined || isOver(checker.violations)) break;
      await fault.inject(cluster, { faultMs, progress });
      await cluster.recover();
      await progress(narrowingsBetween);
      onFault?.(fault);
    }
  } finally {
    await cluster.recover();
    end.abort();
    await running;
    workload.close();
  }
  isAtEnd = true;
  return workload.finish((read) => onceAvailable('the audit log is read', read));
}

/** Repeats what fails while this process has connections to a database that an earlier fault has ended. */
export async function onceAvailable<T>(what: string, attempt: () => Promise<T>): Promise<T> {
  let result: { readonly value: T } | undefined;
  await until(what, async () => {
    try {
      result = { value: await attempt() };
      return true;
    } catch (error) {
      if (isUnavailable(error)) return false;
      throw error;
    }
  });
  if (!result) throw new Error(`${what}: without a result`);
  return result.value;
}
