/** Compares the checker with an oracle that tries every order, on random small histories. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { isPossible } from './oracle.ts';
import { randomHistory, type Kind } from './random-history.ts';
import { check, type Operation } from './small-history.ts';

const histories = 15_000;

/** In such a history the checker may miss a violation. */
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

interface Counts {
  valid: number;
  violating: number;
  missed: number;
}

/** @param mayMiss whether the checker may miss a violation in this history; it must never report a false one */
function compare(kind: Kind, mayMiss: (history: readonly Operation[]) => boolean): Counts {
  const firstSeed = randomInt(2 ** 31);
  const counts: Counts = { valid: 0, violating: 0, missed: 0 };
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const history = randomHistory(seed, kind);
    const isValid = isPossible(history);
    const { violations, examples } = check(history);
    const details = (): string => `seed ${seed}: ${JSON.stringify({ history, examples }, undefined, 1)}`;
    if (isValid) assert.equal(violations, 0, `false violation, ${details()}`);
    else if (violations === 0 && !mayMiss(history)) assert.fail(`missed violation, ${details()}`);
    counts[isValid ? 'valid' : 'violating']++;
    if (!isValid && violations === 0) counts.missed++;
  }
  const { valid, violating } = counts;
  assert.ok(valid > histories / 8 && violating > histories / 8, `${valid} valid, ${violating} violating`);
  return counts;
}

test('the checker agrees with the oracle if keys are deleted', () => {
  compare({ hasDeletions: true, hasChanges: false }, () => false);
});

test('the checker agrees with the oracle if an account is disabled and enabled', () => {
  const { violating, missed } = compare({ hasDeletions: false, hasChanges: true }, overlapsTwoChanges);
  assert.ok(missed < violating / 50, `${missed} missed of ${violating}`);
});

test('the checker never reports a false violation, and misses few, if both happen to one key', () => {
  const { violating, missed } = compare({ hasDeletions: true, hasChanges: true }, () => true);
  assert.ok(missed < violating / 20, `${missed} missed of ${violating}`);
});
