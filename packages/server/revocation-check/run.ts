/** One run of the revocation check: creates canaries, runs the workload, checks the history, removes the canaries. */
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import type { Canaries } from './canaries.ts';
import { narrowingsIn, type Report } from './report.ts';
import { Workload } from './workload.ts';

export interface RunOptions {
  /** Base URLs. */
  readonly instances: readonly string[];
  readonly canaries: Canaries;
  /** Verifications in progress at a time, approximately. */
  readonly concurrency: number;
  /** Of the workload, without preparation and removal. */
  readonly seconds: number;
  /** Ends the run earlier. */
  readonly deletionsMax?: number;
  /** Interrupts the run. */
  readonly signal: AbortSignal;
}

/** The members are those of `keyreeve prove-revocation --json`. */
export interface RunResult {
  readonly isProven: boolean;
  /** Why the guarantee is not proven; null if it is. */
  readonly reason: string | null;
  readonly seconds: number;
  /** `verdicts`: the number of verifications that the instance has accepted or rejected. */
  readonly instances: readonly { readonly url: string; readonly verdicts: number }[];
  /** Null if the workload did not start. */
  readonly report: Report | null;
  /** Email addresses of canary accounts, URLs of issuers, ids of programs, and names of scopes, that could not be removed. */
  readonly leftBehind: readonly string[];
}

export async function runRevocationCheck(options: RunOptions): Promise<RunResult> {
  const { canaries, instances } = options;
  let found: Omit<RunResult, 'leftBehind'>;
  let leftBehind: readonly string[] = [];
  try {
    found = await run(options);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const cause = error.options.cause instanceof Error ? `: ${error.options.cause.message}` : '';
    found = {
      ...unproven(`the canary accounts cannot be created or changed: ${error.message}${cause}`),
      seconds: 0,
      instances: instances.map((url) => ({ url, verdicts: 0 })),
    };
  } finally {
    leftBehind = await canaries.removeAll();
  }
  return { ...found, leftBehind };
}

async function run(options: RunOptions): Promise<Omit<RunResult, 'leftBehind'>> {
  const { seconds, deletionsMax, signal, canaries } = options;
  const workload = await Workload.prepare(options);
  try {
    const startedAt = monotonicMs();
    const obstacles = await workload.findObstacles();
    const counts = () => ({
      seconds: Number(((monotonicMs() - startedAt) / 1000).toFixed(3)),
      instances: workload.instances.map(({ url, verifications }) => ({ url, verdicts: verifications })),
    });
    if (obstacles.length > 0) return { ...unproven(obstacles.join('; ')), ...counts() };
    await workload.run({
      signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]),
      ...(deletionsMax === undefined ? {} : { deletionsMax }),
    });
    const found = counts();
    const report = await workload.finish();
    const reason = signal.aborted ? 'it was interrupted' : gapOf(report, found.instances, canaries);
    return { isProven: reason === null, reason, report, ...found };
  } finally {
    workload.close();
  }
}

const unproven = (reason: string) => ({ isProven: false, reason, report: null });

/** A violation, or an observation that the run lacks: without it, the absence of violations proves nothing. */
function gapOf(report: Report, instances: RunResult['instances'], { importsKeys, catalogue }: Canaries): string | null {
  const { violations, verifications, deletions, keyChanges } = report;
  if (violations > 0) return `${violations} violation${violations === 1 ? '' : 's'}`;
  const silent = instances.filter(({ verdicts }) => verdicts === 0);
  if (silent.length > 0) return `no response to a verification from ${silent.map(({ url }) => url).join(', ')}`;
  if (deletions.acknowledged === 0) return 'no deletion was acknowledged';
  if (deletions.created === 0) return 'no key that was created over HTTP was deleted';
  if (deletions.caller === 0) return 'no key of a caller was deleted';
  if (importsKeys && deletions.imported === 0) return 'no imported key was deleted';
  if (narrowingsIn(keyChanges) === 0) return 'no change that removes rights of a key was acknowledged';
  if (keyChanges.issuerRemoved === 0) return 'no issuer was removed';
  if (keyChanges.programRemoved === 0) return 'no program was removed';
  if (keyChanges.portalSessionEnded === 0) return 'no portal session was ended';
  if (catalogue && keyChanges.entitlement === 0) return 'no entitlement was removed';
  if (catalogue && keyChanges.scopeMarked + keyChanges.scopeDeleted === 0) return 'no scope was marked or deleted';
  if (verifications.accepted === 0) return 'no verification was accepted';
  return verifications.afterRevocation === 0 ? 'no verification started after the response to a deletion' : null;
}
