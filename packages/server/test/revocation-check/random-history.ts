/**
 * Random small histories: the responses of a correct service at random moments, with one wrong response in most of them. The
 * same seed gives the same history.
 */
import type { AccountState, DeletionOutcome, ObservedResult } from '../../revocation-check/history.ts';
import { keys, type Operation } from './small-history.ts';

/** What a history may contain in addition to verifications. */
export interface Kind {
  readonly hasDeletions: boolean;
  readonly hasChanges: boolean;
}

/** Mulberry32: 32 bits of state, uniform in [0, 1). */
export function randomFrom(seed: number): () => number {
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
  /** When it takes effect; infinite if it never does. */
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
  const state = { deleted: new Set<number>(), isDisabled: false };
  const operations = new Map<Planned, Operation>();
  for (const operation of planned.toSorted((a, b) => a.moment - b.moment)) {
    operations.set(operation, respond(operation, state, pick));
  }
  const history = planned.flatMap((operation) => operations.get(operation) ?? []);
  const isWrong = random() < 0.75;
  const wrong = Math.floor(random() * history.length);
  return isWrong
    ? history.map((operation, index) => (index === wrong ? falsify(operation, random, pick) : operation))
    : history;
}

function plan(random: () => number, pick: <T>(values: readonly T[]) => T, kind: Kind): Planned[] {
  const { hasDeletions, hasChanges } = kind;
  const planned: Planned[] = [];
  const add = (
    type: Planned['type'],
    [from, to]: readonly [number, number],
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
    // Short intervals narrow the moment of a deletion more.
    const from = random() * span;
    add('verify', [from, Math.min(span, from + random() * 40)], random() > 0.05);
  }
  if (hasDeletions)
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) add('delete', [0, span], random() > 0.3);
  if (hasDeletions && random() < 0.4) add('list', [0, span]);
  if (hasDeletions && random() < 0.4) add('audit', [0, span]);
  // Sequential. Without deletions the checker must be exact, so only the last change may have an unknown outcome.
  const changes = hasChanges ? 1 + Math.floor(random() * 3) : 0;
  for (let index = 0; index < changes; index++) {
    const isKnown = (index < changes - 1 && !hasDeletions) || random() > 0.3;
    const to = random() < 0.9 ? (['disabled', 'enabled'] as const)[index % 2] : pick(['disabled', 'enabled'] as const);
    add('change', [(span / changes) * index, (span / changes) * (index + 1)], isKnown, to);
  }
  return planned;
}

function respond(
  { type, key, to, startedAt, endedAt, isKnown, moment }: Planned,
  state: { deleted: Set<number>; isDisabled: boolean },
  pick: <T>(values: readonly T[]) => T,
): Operation {
  const interval = { startedAt, endedAt };
  const isDeleted = state.deleted.has(key);
  const takesEffect = moment !== Infinity;
  switch (type) {
    case 'verify': {
      const rejection: ObservedResult = pick([isDeleted ? 'not_found' : 'disabled', 'rejected'] as const);
      const result: ObservedResult = isDeleted || state.isDisabled ? rejection : 'accepted';
      return { ...interval, type, key, result: isKnown ? result : 'unknown' };
    }
    case 'delete': {
      const outcome: DeletionOutcome = state.isDisabled ? 'rejected' : isDeleted ? 'not_found' : 'deleted';
      if (takesEffect && !state.isDisabled) state.deleted.add(key);
      return { ...interval, type, key, outcome: isKnown ? outcome : 'unknown' };
    }
    case 'change':
      if (takesEffect) state.isDisabled = to === 'disabled';
      return { ...interval, type, to, isKnown };
    case 'list':
      return { ...interval, type, shown: keys.filter((each) => !state.deleted.has(each)) };
    case 'audit':
      return { ...interval, type, deletions: Object.fromEntries([...state.deleted].map((each) => [each, 1])) };
  }
}

/** Changes the response, or its time. */
function falsify(operation: Operation, random: () => number, pick: <T>(values: readonly T[]) => T): Operation {
  const key = pick(keys);
  switch (operation.type) {
    case 'verify':
      return { ...operation, result: pick(['accepted', 'rejected', 'not_found', 'disabled'] as const) };
    case 'delete':
      return { ...operation, outcome: pick(['deleted', 'not_found', 'unknown', 'rejected'] as const) };
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
