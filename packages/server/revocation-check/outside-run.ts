/** One run of the revocation check from outside, and its result. */
import { monotonicMs, systemClock, toInstant } from '../src/foundation/clock.ts';
import type { ProcessDescription } from './canary-credential.ts';
import { cacheObstacle, notCovered, OutsideWorkload } from './outside-workload.ts';
import { seedRandom } from './random.ts';
import type { Report } from './report.ts';

export interface OutsideRunOptions {
  /** Base URLs. */
  readonly urls: readonly string[];
  readonly credential: string;
  readonly concurrency: number;
  /** Of the workload, without preparation and removal. */
  readonly seconds: number;
  readonly deletionsMax?: number;
  /** Of the random choices. Default: random. */
  readonly seed?: number;
  /** Of the program that checks. */
  readonly version: string;
  readonly signal: AbortSignal;
}

/** The members are those of `keyreeve prove-revocation --url … --json`. None has a secret. */
export interface OutsideResult {
  readonly isProven: boolean;
  /** Why the guarantee is not proven; null if it is. */
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly seconds: number;
  readonly seed: number;
  readonly checker: { readonly version: string; readonly node: string };
  /** Null if no instance accepted it. */
  readonly credential: { readonly keyId: number; readonly expiresAt: string } | null;
  readonly instances: readonly {
    readonly url: string;
    readonly verdicts: number;
    readonly cachedResponses: number;
    readonly processes: readonly ProcessDescription[];
    readonly clockDifferenceMs: number | null;
  }[];
  readonly notCovered: readonly string[];
  /** What does not decide on the result. */
  readonly warnings: readonly string[];
  /** Null if the workload did not start. */
  readonly report: Report | null;
  /** Ids of canary keys that could not be deleted. They expire. */
  readonly leftBehind: readonly number[];
}

/** The clocks of instances may differ by this much; a larger difference moves the expiry of keys. */
const clockDifferenceMsMax = 30_000;

export async function runOutside(options: OutsideRunOptions): Promise<OutsideResult> {
  const { version, signal, seconds, deletionsMax } = options;
  const seed = seedRandom(options.seed);
  const startedAt = systemClock.now();
  const workload = new OutsideWorkload(options);
  try {
    const obstacles = await workload.findObstacles(seconds);
    const runAt = monotonicMs();
    if (obstacles.length === 0)
      await workload.run(AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]), deletionsMax);
    const ranSeconds = Number(((monotonicMs() - runAt) / 1_000).toFixed(3));
    const report = obstacles.length === 0 ? await workload.finish() : null;
    const reason = report ? gapOf(workload, report, signal) : obstacles.join('; ');
    const leftBehind = await workload.deleteKeys();
    return {
      isProven: reason === null,
      reason,
      startedAt: toInstant(startedAt),
      endedAt: toInstant(systemClock.now()),
      seconds: report ? ranSeconds : 0,
      seed,
      checker: { version, node: process.version },
      credential: workload.credential
        ? { keyId: workload.credential.keyId, expiresAt: workload.credential.expiresAt }
        : null,
      instances: instancesOf(workload),
      notCovered,
      warnings: warningsOf(workload),
      report,
      leftBehind,
    };
  } catch (error) {
    await workload.deleteKeys();
    throw error;
  } finally {
    workload.close();
  }
}

const instancesOf = ({ instances, observed }: OutsideWorkload): OutsideResult['instances'] =>
  instances.map(({ url, verifications, cachedResponses }) => ({
    url,
    verdicts: verifications,
    cachedResponses,
    processes: [...(observed.get(url)?.processes.values() ?? [])],
    clockDifferenceMs: observed.get(url)?.clockDifferenceMs ?? null,
  }));

/** A violation, or an observation that the run lacks: without it, the absence of violations proves nothing. */
function gapOf(workload: OutsideWorkload, report: Report, signal: AbortSignal): string | null {
  const { violations, verifications, deletions } = report;
  if (signal.aborted) return 'it was interrupted';
  if (workload.session.isRejected)
    return 'an instance rejected the credential during the run: was it deleted or disabled?';
  if (violations > 0) return `${violations} violation${violations === 1 ? '' : 's'}`;
  const cached = workload.instances.filter(({ cachedResponses }) => cachedResponses > 0);
  if (cached.length > 0) return cached.map(({ url }) => cacheObstacle(url)).join('; ');
  const silent = workload.instances.filter((instance) => instance.verifications === 0);
  if (silent.length > 0) return `no response to a verification from ${silent.map(({ url }) => url).join(', ')}`;
  const same = workload.findSameInstances();
  if (same.length > 0) return same.join('; ');
  if (deletions.acknowledged === 0) return 'no deletion was acknowledged';
  if (verifications.accepted === 0) return 'no verification was accepted';
  return verifications.afterRevocation === 0 ? 'no verification started after the response to a deletion' : null;
}

function warningsOf({ observed, instances, isExhausted }: OutsideWorkload): string[] {
  const warnings = isExhausted ? ['the run ended at the limit of canary keys in an hour'] : [];
  const versions = new Set(
    [...observed.values()].flatMap(({ processes }) => [...processes.values()].map((one) => one.version)),
  );
  if (versions.size > 1) warnings.push(`the instances have different versions: ${[...versions].toSorted().join(', ')}`);
  for (const { url } of instances) {
    const found = observed.get(url);
    if (!found) continue;
    const { processes, clockDifferenceMs } = found;
    if (Math.abs(clockDifferenceMs) > clockDifferenceMsMax)
      warnings.push(
        `the clock of ${url} differs by ${(clockDifferenceMs / 1_000).toFixed(0)} s from that of this machine`,
      );
    if (processes.size > 1)
      warnings.push(
        `${processes.size} processes answered for ${url}: a restart, or a load balancer; name each instance`,
      );
  }
  return warnings;
}
