/** Whether the service responds, and the end of an outage. */
import { effect, signal } from '@preact/signals';

/** The newest failure that concerns the whole service, for the banner. */
export const outage = signal<'unavailable' | 'unreachable'>();
/** Counts the ends of outages. Resources that read it load again. */
export const recoveries = signal(0);

/**
 * During an outage, sends requests in the background until the service responds again.
 * @param probe sends a request, and throws if the service does not respond. @returns what follows the end of the outage
 */
export function watchOutages(probe: () => Promise<() => void>): void {
  addEventListener('offline', () => void (outage.value = 'unreachable'));
  effect(() => (outage.value ? untilItResponds(probe) : undefined));
}

/** @returns what stops it */
function untilItResponds(probe: () => Promise<() => void>): () => void {
  let delayMs = 2000;
  let timer = 0;
  const attempt = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      const follow = await probe();
      outage.value = undefined;
      recoveries.value++;
      follow();
    } catch {
      delayMs = Math.min(15_000, delayMs * 1.5);
      timer = window.setTimeout(() => void attempt(), delayMs);
    }
  };
  const onOnline = (): void => void attempt();
  timer = window.setTimeout(() => void attempt(), delayMs);
  addEventListener('online', onOnline);
  return () => {
    clearTimeout(timer);
    removeEventListener('online', onOnline);
  };
}
