/**
 * Random small histories: first what a right service would have answered at random moments, then, in most of them,
 * something is made wrong. The same seed gives the same history.
 */
import type { AccountState, DeletionOutcome, Verdict } from '../../revocation-check/history.ts';
import { keys, type Operation } from './small-history.ts';

/** What a history may hold besides verifications. */
export interface Kind {
  readonly hasDeletions: boolean;
  readonly hasChanges: boolean;
}

/** Mulberry32: 32 bits of state, uniform in [0, 1). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Planned {
  readonly startedAt: number;
  readonly endedAt: number;
  /** When it takes effect; never for infinity. */
  readonly moment: number;
  readonly isKnown: boolean;
  readonly type: Operation['type'];
  readonly to: AccountState;
  readonly key: number;
}

export function randomHistory(seed: number, kind: Kind): Operation[] {
  const random = randomFrom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const planned = plan(random, pick, kind);
  const state = { dead: new Set<number>(), isDisabled: false };
  const answered = new Map<Planned, Operation>();
  for (const operation of planned.toSorted((a, b) => a.moment - b.moment)) {
    answered.set(operation, answer(operation, state, pick));
  }
  const history = planned.flatMap((operation) => answered.get(operation) ?? []);
  const isWrong = random() < 0.75;
  const wrong = Math.floor(random() * history.length);
  return isWrong
    ? history.map((operation, index) => (index === wrong ? spoil(operation, random, pick) : operation))
    : history;
}

function plan(random: () => number, pick: <T>(values: readonly T[]) => T, kind: Kind): Planned[] {
  const { hasDeletions, hasChanges } = kind;
  const planned: Planned[] = [];
  const add = (
    type: Planned['type'],
    from: number,
    to: number,
    isKnown = true,
    state: AccountState = 'enabled',
  ): void => {
    const [startedAt = 0, endedAt = 0] = [from + random() * (to - from), from + random() * (to - from)].toSorted(
      (a, b) => a - b,
    );
    const late = random() < 0.3 ? Infinity : startedAt + random() * 60;
    const moment = isKnown ? startedAt + random() * (endedAt - startedAt) : late;
    planned.push({ startedAt, endedAt, moment, isKnown, type, to: state, key: pick(keys) });
  };
  const span = 100;
  for (let left = 3 + Math.floor(random() * 4); left > 0; left--) {
    // Short ones see less, and so prove more.
    const from = random() * span;
    add('verify', from, Math.min(span, from + random() * 40), random() > 0.05);
  }
  if (hasDeletions)
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) add('delete', 0, span, random() > 0.3);
  if (hasDeletions && random() < 0.4) add('list', 0, span);
  if (hasDeletions && random() < 0.4) add('audit', 0, span);
  // One after the other; after one without an outcome comes none, where the checker has to be exact.
  const changes = hasChanges ? 1 + Math.floor(random() * 3) : 0;
  for (let index = 0; index < changes; index++) {
    const isKnown = (index < changes - 1 && !hasDeletions) || random() > 0.3;
    const to = random() < 0.9 ? (['disabled', 'enabled'] as const)[index % 2] : pick(['disabled', 'enabled'] as const);
    add('change', (span / changes) * index, (span / changes) * (index + 1), isKnown, to);
  }
  return planned;
}

function answer(
  { type, key, to, startedAt, endedAt, isKnown, moment }: Planned,
  state: { dead: Set<number>; isDisabled: boolean },
  pick: <T>(values: readonly T[]) => T,
): Operation {
  const interval = { startedAt, endedAt };
  const isDead = state.dead.has(key);
  const takesEffect = moment !== Infinity;
  switch (type) {
    case 'verify': {
      const refusal: Verdict = pick([isDead ? 'not_found' : 'disabled', 'refused'] as const);
      const verdict: Verdict = isDead || state.isDisabled ? refusal : 'accepted';
      return { ...interval, type, key, verdict: isKnown ? verdict : 'unknown' };
    }
    case 'delete': {
      const outcome: DeletionOutcome = state.isDisabled ? 'refused' : isDead ? 'not_found' : 'deleted';
      if (takesEffect && !state.isDisabled) state.dead.add(key);
      return { ...interval, type, key, outcome: isKnown ? outcome : 'unknown' };
    }
    case 'change':
      if (takesEffect) state.isDisabled = to === 'disabled';
      return { ...interval, type, to, isKnown };
    case 'list':
      return { ...interval, type, shown: keys.filter((each) => !state.dead.has(each)) };
    case 'audit':
      return { ...interval, type, deletions: Object.fromEntries([...state.dead].map((each) => [each, 1])) };
  }
}

/** Another answer, or the same at another time. */
function spoil(operation: Operation, random: () => number, pick: <T>(values: readonly T[]) => T): Operation {
  const key = pick(keys);
  switch (operation.type) {
    case 'verify':
      return { ...operation, verdict: pick(['accepted', 'refused', 'not_found', 'disabled'] as const) };
    case 'delete':
      return { ...operation, outcome: pick(['deleted', 'not_found', 'unknown', 'refused'] as const) };
    case 'list':
      return { ...operation, shown: operation.shown.includes(key) ? [] : [key] };
    case 'audit':
      return { ...operation, deletions: { ...operation.deletions, [key]: Math.floor(random() * 3) } };
    case 'change': {
      const endedAt = operation.startedAt + random() * (operation.endedAt - operation.startedAt);
      return { ...operation, endedAt };
    }
  }
}
