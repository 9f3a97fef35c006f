/** Data that a page loads, with its state. Each success clears `outage`. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { problemOf, type Problem } from './problem.ts';
import { outage, recoveries } from './outage.ts';

export interface Resource<T> {
  /** The newest loaded value; kept while it is loaded again. */
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  /** Loads again. A response of an earlier load is ignored. */
  readonly reload: () => Promise<void>;
  /** Replaces the value without a request. A response of an earlier load is ignored. */
  readonly set: (value: T) => void;
}

/** @param load reads signals that cause another load when they change */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const value = useSignal<T>();
  const problem = useSignal<Problem>();
  const isLoading = useSignal(true);
  const abort = useSignal<AbortController>();
  const run = async (): Promise<void> => {
    abort.peek()?.abort();
    const controller = new AbortController();
    abort.value = controller;
    isLoading.value = true;
    try {
      const loaded = await load(controller.signal);
      if (controller.signal.aborted) return;
      value.value = loaded;
      problem.value = undefined;
      outage.value = undefined;
    } catch (error) {
      // A newer load replaced it, or the page was left.
      if (controller.signal.aborted) return;
      problem.value = problemOf(error);
    }
    isLoading.value = false;
  };
  useSignalEffect(() => {
    // After an outage, the data is loaded again.
    void recoveries.value;
    void run();
    return () => abort.peek()?.abort();
  });
  return {
    value: value.value,
    problem: problem.value,
    isLoading: isLoading.value,
    reload: run,
    set: (next) => {
      abort.peek()?.abort();
      value.value = next;
      problem.value = undefined;
      isLoading.value = false;
    },
  };
}

export interface Action<V extends unknown[]> {
  readonly isRunning: boolean;
  readonly problem: Problem | undefined;
  /** Ignored while it is running: a double click sends one request. @returns whether it succeeded */
  readonly run: (...values: V) => Promise<boolean>;
  readonly clear: () => void;
}

/** A request that a person's action causes. */
export function useAction<V extends unknown[]>(act: (...values: V) => Promise<unknown>): Action<V> {
  const isRunning = useSignal(false);
  const problem = useSignal<Problem>();
  return {
    isRunning: isRunning.value,
    problem: problem.value,
    clear: () => void (problem.value = undefined),
    run: async (...values) => {
      if (isRunning.peek()) return false;
      isRunning.value = true;
      problem.value = undefined;
      try {
        await act(...values);
        return true;
      } catch (error) {
        problem.value = problemOf(error);
        return false;
      } finally {
        isRunning.value = false;
      }
    },
  };
}
