/** Waits for an application that a test has started. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats the request until the application listens, at most 2 minutes. */
export async function untilAnswered(url: string, credential: string): Promise<Response> {
  const giveUp = AbortSignal.timeout(120_000);
  for (;;) {
    try {
      return await fetch(url, { headers: { authorization: `Bearer ${credential}` } });
    } catch (error) {
      if (giveUp.aborted) throw error;
      await sleep(50);
    }
  }
}
