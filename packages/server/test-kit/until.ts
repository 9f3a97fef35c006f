/**
 * Waits of tests. A wait has no time limit of its own: the watchdog of the test (`watchdog.ts`) ends it, and prints what was
 * awaited.
 */
import { setTimeout } from 'node:timers/promises';

interface Wait {
  readonly what: string;
  readonly end: (reason: Error) => void;
}

const pollMs = 10;
const waits = new Set<Wait>();

/**
 * Waits until the condition is true.
 * @param what the condition as a sentence, for the report of a test that does not end: `the job is done`
 * @throws the error of the condition
 */
export function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  return awaited(what, async (signal) => {
    // oxlint-disable-next-line keyreeve/no-test-bounds -- the interval of a poll bounds nothing
    while (!(await condition())) await setTimeout(pollMs, undefined, { signal });
  });
}

/**
 * Awaits a promise that a fault in the product could leave pending.
 * @param start gets a signal that aborts when the watchdog ends the wait
 */
export async function awaited<T>(what: string, start: Promise<T> | ((signal: AbortSignal) => Promise<T>)): Promise<T> {
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  const abort = new AbortController();
  const wait: Wait = {
    what,
    end: (reason) => {
      end(reason);
      abort.abort(reason);
    },
  };
  waits.add(wait);
  try {
    return await Promise.race([typeof start === 'function' ? start(abort.signal) : start, ended]);
  } finally {
    waits.delete(wait);
  }
}

/** What the tests of this process await. */
export const awaitedNow = (): string[] => [...waits].map(({ what }) => what);

/** Rejects all waits of this process. */
export function endWaits(reason: string): void {
  for (const { what, end } of waits) end(new Error(`${what}: ${reason}`));
}
