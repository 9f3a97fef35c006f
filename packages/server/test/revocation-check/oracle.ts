/**
 * Checks a small history by trying every order of its operations. The history is possible if an order exists that respects
 * their times, and in which a sequential service gives the same responses. It shares no code with the checker.
 */
import { keys, type Operation } from './small-history.ts';

interface State {
  readonly deleted: readonly number[];
  readonly isDisabled: boolean;
}

interface Step {
  readonly startedAt: number;
  readonly endedAt: number;
  /** With an unknown outcome: it may never take effect. */
  readonly isOptional: boolean;
  /** @returns the next state; undefined if the response is impossible in this state */
  readonly apply: (state: State) => State | undefined;
}

export function isPossible(history: readonly Operation[]): boolean {
  const steps = history.flatMap(stepsOf);
  const tried = new Set<string>();
  const search = (rest: readonly Step[], state: State): boolean => {
    if (rest.every(({ isOptional }) => isOptional)) return true;
    const position = `${rest.map((step) => steps.indexOf(step)).join()} ${state.deleted.join()} ${state.isDisabled}`;
    if (tried.has(position)) return false;
    tried.add(position);
    return rest.some((step) => {
      if (rest.some((other) => other.endedAt < step.startedAt)) return false;
      const next = step.apply(state);
      return (
        next !== undefined &&
        search(
          rest.filter((other) => other !== step),
          next,
        )
      );
    });
  };
  return search(steps, { deleted: [], isDisabled: false });
}

/** A list is one observation of each key, because keys are independent. */
function stepsOf(operation: Operation): Step[] {
  const { startedAt, endedAt } = operation;
  const observed = (fits: (state: State) => boolean): Step => ({
    startedAt,
    endedAt,
    isOptional: false,
    apply: (state) => (fits(state) ? state : undefined),
  });
  switch (operation.type) {
    case 'verify': {
      const { key, result } = operation;
      return result === 'unknown' ? [] : [observed((state) => resultsIn(state, key).includes(result))];
    }
    case 'list':
      return keys.map((key) => observed(({ deleted }) => deleted.includes(key) !== operation.shown.includes(key)));
    case 'audit':
      return keys.map((key) =>
        observed(({ deleted }) => (deleted.includes(key) ? 1 : 0) === (operation.deletions[key] ?? 0)),
      );
    case 'delete': {
      const { key, outcome } = operation;
      if (outcome === 'rejected') return [];
      if (outcome === 'not_found') return [observed(({ deleted }) => deleted.includes(key))];
      const isOptional = outcome === 'unknown';
      const apply = (state: State): State | undefined =>
        state.deleted.includes(key)
          ? undefined
          : { ...state, deleted: keys.filter((each) => each === key || state.deleted.includes(each)) };
      return [{ startedAt, endedAt: isOptional ? Infinity : endedAt, isOptional, apply }];
    }
    case 'change': {
      const isOptional = !operation.isKnown;
      const apply = (state: State): State => ({ ...state, isDisabled: operation.to === 'disabled' });
      return [{ startedAt, endedAt: isOptional ? Infinity : endedAt, isOptional, apply }];
    }
  }
}

/** The possible results, with and without a reason. */
function resultsIn({ deleted, isDisabled }: State, key: number): string[] {
  if (deleted.includes(key)) return ['not_found', 'rejected'];
  return isDisabled ? ['disabled', 'rejected'] : ['accepted'];
}
