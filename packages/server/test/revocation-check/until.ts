/** Waiting for a condition, within a bound. */
import { setTimeout } from 'node:timers/promises';

const pollMs = 10;

/** @throws Error that names `what` when it isn’t so within `msMax` */
export async function until(what: string, msMax: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const bound = AbortSignal.timeout(msMax);
  while (!(await isSo())) {
    if (bound.aborted) throw new Error(`${what}: not within ${msMax} ms`);
    await setTimeout(pollMs);
  }
}
