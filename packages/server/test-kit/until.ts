/** Waits for a condition, with a time limit. */
import { setTimeout } from 'node:timers/promises';

const pollMs = 10;

/** @throws Error with `what` if the condition is not true within `msMax` */
export async function until(what: string, msMax: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const bound = AbortSignal.timeout(msMax);
  while (!(await condition())) {
    if (bound.aborted) throw new Error(`${what}: not within ${msMax} ms`);
    await setTimeout(pollMs);
  }
}
