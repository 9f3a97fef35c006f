/** The checker against an oracle that tries every order, on random small histories. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { isPossible } from './oracle.ts';
import { randomHistory, type Kind } from './random-history.ts';
import { check, type Operation } from './small-history.ts';

const histories = 15_000;

/** There the checker is allowed to miss something. */
const overlapsTwoChanges = (history: readonly Operation[]): boolean =>
  history.some(
    (operation) =>
      operation.type === 'verify' &&
      history.filter(
        (change) =>
          change.type === 'change' &&
          change.startedAt <= operation.endedAt &&
          (change.isKnown ? change.endedAt : Infinity) >= operation.startedAt,
      ).length > 1,
  );

interface Tally {
  clean: number;
  violating: number;
  missed: number;
}

/** @param mayMiss the histories in which a violation may go unseen; a false accusation is never allowed */
function compare(kind: Kind, mayMiss: (history: readonly Operation[]) => boolean): Tally {
  const firstSeed = randomInt(2 ** 31);
  const tally: Tally = { clean: 0, violating: 0, missed: 0 };
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const history = randomHistory(seed, kind);
    const isClean = isPossible(history);
    const { violations, examples } = check(history);
    const told = (): string => `seed ${seed}: ${JSON.stringify({ history, examples }, undefined, 1)}`;
    if (isClean) assert.equal(violations, 0, `accused wrongly, ${told()}`);
    else if (violations === 0 && !mayMiss(history)) assert.fail(`not noticed, ${told()}`);
    tally[isClean ? 'clean' : 'violating']++;
    if (!isClean && violations === 0) tally.missed++;
  }
  return tally;
}

test('where keys are deleted, the checker says the same as the oracle', () => {
  const { clean, violating } = compare({ hasDeletions: true, hasChanges: false }, () => false);
  assert.ok(clean > histories / 8 && violating > histories / 8, `${clean} clean, ${violating} violating`);
});

test('where an account is disabled and enabled, the checker says the same as the oracle', () => {
  const { clean, violating, missed } = compare({ hasDeletions: false, hasChanges: true }, overlapsTwoChanges);
  assert.ok(clean > histories / 8 && violating > histories / 8, `${clean} clean, ${violating} violating`);
  assert.ok(missed < violating / 50, `${missed} missed of ${violating}`);
});

test('where both happen to one key, the checker never accuses wrongly and misses little', () => {
  const { clean, violating, missed } = compare({ hasDeletions: true, hasChanges: true }, () => true);
  assert.ok(clean > histories / 8 && violating > histories / 8, `${clean} clean, ${violating} violating`);
  assert.ok(missed < violating / 20, `${missed} missed of ${violating}`);
});
