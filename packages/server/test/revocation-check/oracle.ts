/**
 * Judges a small history by trying every order: does one exist that keeps what came before what, and in which a service
 * that does one thing at a time would have answered the same? It shares nothing with the checker but the question.
 */
import { keys, type Operation } from './small-history.ts';

/** Which keys are dead, and whether the account is disabled. */
interface State {
  readonly dead: readonly number[];
  readonly isDisabled: boolean;
}

interface Step {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Of an unknown outcome: it may have happened or not. */
  readonly isOptional: boolean;
  /** The state after it; undefined where it couldn’t have been answered so. */
  readonly apply: (state: State) => State | undefined;
}

export function isPossible(history: readonly Operation[]): boolean {
  const steps = history.flatMap(stepsOf);
  const tried = new Set<string>();
  const search = (rest: readonly Step[], state: State): boolean => {
    if (rest.every(({ isOptional }) => isOptional)) return true;
    const known = `${rest.map((step) => steps.indexOf(step)).join()} ${state.dead.join()} ${state.isDisabled}`;
    if (tried.has(known)) return false;
    tried.add(known);
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
  return search(steps, { dead: [], isDisabled: false });
}

/** Each key is judged by itself, so a list is one observation of each. */
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
      const { key, verdict } = operation;
      return verdict === 'unknown' ? [] : [observed((state) => answers(state, key).includes(verdict))];
    }
    case 'list':
      return keys.map((key) => observed(({ dead }) => dead.includes(key) !== operation.shown.includes(key)));
    case 'audit':
      return keys.map((key) =>
        observed(({ dead }) => (dead.includes(key) ? 1 : 0) === (operation.deletions[key] ?? 0)),
      );
    case 'delete': {
      const { key, outcome } = operation;
      if (outcome === 'refused') return [];
      if (outcome === 'not_found') return [observed(({ dead }) => dead.includes(key))];
      const isOptional = outcome === 'unknown';
      const apply = (state: State): State | undefined =>
        state.dead.includes(key)
          ? undefined
          : { ...state, dead: keys.filter((each) => each === key || state.dead.includes(each)) };
      return [{ startedAt, endedAt: isOptional ? Infinity : endedAt, isOptional, apply }];
    }
    case 'change': {
      const isOptional = !operation.isKnown;
      const apply = (state: State): State => ({ ...state, isDisabled: operation.to === 'disabled' });
      return [{ startedAt, endedAt: isOptional ? Infinity : endedAt, isOptional, apply }];
    }
  }
}

/** With and without a reason. */
function answers({ dead, isDisabled }: State, key: number): string[] {
  if (dead.includes(key)) return ['not_found', 'refused'];
  return isDisabled ? ['disabled', 'refused'] : ['accepted'];
}
