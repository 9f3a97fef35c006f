/**
 * Data that the page loads again every few seconds, only while the person can see it. These requests do not extend the session.
 * After a failure the last values stay, with the problem.
 */
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { unreachable, type Problem } from './problem.ts';
import { useResource, type Resource } from './resource.ts';
import { outage } from './outage.ts';

export interface Live<T> extends Resource<T> {
  /** When the value was loaded, in milliseconds of this computer's clock. */
  readonly loadedAt: number | undefined;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
}

export interface LiveRequest {
  readonly signal: AbortSignal;
  readonly isBackground: boolean;
}

const everyMs = 5_000;
/** After failures, the pauses double up to this one. */
const everyMsMax = 60_000;
/** A response that takes longer is a failure: otherwise a broken connection would look like current values. */
const responseMsMax = 20_000;

const isHidden = signal(document.hidden);
document.addEventListener('visibilitychange', () => void (isHidden.value = document.hidden));

/** @param load is called with `isBackground` for each request that no action of the person causes */
export function useLive<T>(load: (request: LiveRequest) => Promise<T>): Live<T> {
  const loadedAt = useSignal<number>();
  const isPaused = useSignal(false);
  const failures = useRef(0);
  const isOfPerson = useRef(true);
  const resource = useResource(async (abort) => {
    const isBackground = !isOfPerson.current;
    isOfPerson.current = false;
    failures.current++;
    const loaded = await inTime(load({ signal: abort, isBackground }));
    failures.current = 0;
    loadedAt.value = Date.now();
    return loaded;
  });
  const { isLoading, problem, value } = resource;
  const waits = isPaused.value || isHidden.value;
  useLayoutEffect(() => {
    if (waits) return undefined;
    const after = isLoading ? undefined : pauseAfter(problem, failures.current, loadedAt.peek());
    if (after === undefined) return undefined;
    const timer = setTimeout(() => void resource.reload(), after);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react/exhaustive-deps -- `reload` is another function in each rendering
  }, [waits, isLoading, problem, loadedAt.value]);
  return {
    ...resource,
    // The page is busy only until it has values.
    isLoading: isLoading && value === undefined,
    loadedAt: loadedAt.value,
    isPaused: isPaused.value,
    pause: (next) => void (isPaused.value = next),
    reload: () => {
      isOfPerson.current = true;
      return resource.reload();
    },
  };
}

async function inTime<T>(response: Promise<T>): Promise<T> {
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unreachable()), responseMsMax);
  });
  return Promise.race([response, late]).finally(() => clearTimeout(timer));
}

/** @returns milliseconds until the next request; undefined if there is none */
function pauseAfter(problem: Problem | undefined, failures: number, loadedAt = 0): number | undefined {
  if (!problem) return Math.max(0, loadedAt + everyMs - Date.now());
  // The session or the role has ended.
  if (problem.status === 401 || problem.status === 403) return undefined;
  // `session.ts` finds out when the service responds again, and every resource is loaded then.
  if (problem.code === outage.value) return undefined;
  const pauseMs = Math.min(everyMsMax, everyMs * 2 ** failures);
  return Math.max(pauseMs, problem.retryAt - Date.now());
}
