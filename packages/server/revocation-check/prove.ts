/** One proof from its beginning to its end: canaries, workload, judgement, and nothing left behind. */
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import type { Canaries } from './canaries.ts';
import type { Report } from './report.ts';
import { Workload } from './workload.ts';

export interface ProofOptions {
  /** Base addresses. */
  readonly instances: readonly string[];
  readonly canaries: Canaries;
  /** Verifications under way at once, more or less. */
  readonly concurrency: number;
  /** The run itself; what comes before and after it is short. */
  readonly seconds: number;
  /** Ends the run earlier. */
  readonly deletionsMax?: number;
  /** Of somebody who doesn't want to wait. */
  readonly signal: AbortSignal;
}

export interface Proof {
  readonly isProven: boolean;
  /** Why it isn't; null when it is. */
  readonly reason: string | null;
  readonly seconds: number;
  /** `verdicts`: how many verifications it has answered with yes or no. */
  readonly instances: readonly { readonly url: string; readonly verdicts: number }[];
  /** Null when it didn't come to that. */
  readonly report: Report | null;
  /** Emails of canary accounts that couldn't be removed. */
  readonly leftBehind: readonly string[];
}

export async function prove(options: ProofOptions): Promise<Proof> {
  const { canaries, instances } = options;
  let found: Omit<Proof, 'leftBehind'>;
  let leftBehind: readonly string[] = [];
  try {
    found = await run(options);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const cause = error.options.cause instanceof Error ? `: ${error.options.cause.message}` : '';
    found = {
      ...unproven(`the canaries can’t be managed: ${error.message}${cause}`),
      seconds: 0,
      instances: instances.map((url) => ({ url, verdicts: 0 })),
    };
  } finally {
    leftBehind = await canaries.removeAll();
  }
  return { ...found, leftBehind };
}

async function run(options: ProofOptions): Promise<Omit<Proof, 'leftBehind'>> {
  const { seconds, deletionsMax, signal, canaries } = options;
  const workload = await Workload.prepare(options);
  try {
    const startedAt = monotonicMs();
    const obstacles = await workload.findObstacles();
    const counted = () => ({
      seconds: Number(((monotonicMs() - startedAt) / 1000).toFixed(3)),
      instances: workload.instances.map(({ url, verdicts }) => ({ url, verdicts })),
    });
    if (obstacles.length > 0) return { ...unproven(obstacles.join('; ')), ...counted() };
    await workload.run({
      signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]),
      ...(deletionsMax === undefined ? {} : { deletionsMax }),
    });
    const found = counted();
    const report = await workload.finish();
    const reason = signal.aborted ? 'it was interrupted' : weaknessOf(report, found.instances, canaries.importsKeys);
    return { isProven: reason === null, reason, report, ...found };
  } finally {
    workload.close();
  }
}

const unproven = (reason: string) => ({ isProven: false, reason, report: null });

/** Nothing wrong was seen where nothing was looked at. */
function weaknessOf(report: Report, instances: Proof['instances'], importsKeys: boolean): string | null {
  const { violations, verifications, deletions } = report;
  if (violations > 0) return `${violations} violation${violations === 1 ? '' : 's'}`;
  const silent = instances.filter(({ verdicts }) => verdicts === 0);
  if (silent.length > 0) return `no verification was answered by ${silent.map(({ url }) => url).join(', ')}`;
  if (deletions.acknowledged === 0) return 'no deletion was acknowledged';
  if (deletions.created === 0) return 'no key that was created over HTTP was deleted';
  if (deletions.caller === 0) return 'no key of a caller was deleted';
  if (importsKeys && deletions.imported === 0) return 'no imported key was deleted';
  if (verifications.accepted === 0) return 'no verification was accepted';
  return verifications.afterRevocation === 0 ? 'no verification was answered after a deletion' : null;
}
