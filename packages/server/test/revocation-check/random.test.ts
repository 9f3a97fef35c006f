/** The random choices of the workload. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRandomRounds, pick, randomInt, seedRandom } from '../../revocation-check/random.ts';

const choices = (): readonly number[] => Array.from({ length: 1_000 }, () => randomInt(7));

test('a seed repeats the choices, and another seed makes others', () => {
  assert.equal(seedRandom(7), 7);
  const first = choices();
  seedRandom(7);
  assert.deepEqual(choices(), first);
  seedRandom(8);
  assert.notDeepEqual(choices(), first);
  assert.notEqual(seedRandom(), seedRandom());
});

test('every choice is made', () => {
  seedRandom(1);
  assert.deepEqual(
    [...new Set(choices())].toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6],
  );
  assert.equal(pick(['only']), 'only');
});

test('a round has each value once, and rounds have different orders', () => {
  seedRandom(1);
  const values = inRandomRounds([0, 1, 2, 3, 4, 5, 6, 7]);
  const rounds = Array.from({ length: 20 }, () => Array.from({ length: 8 }, () => values.next().value));
  for (const round of rounds)
    assert.deepEqual(
      round.toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
  assert.ok(new Set(rounds.map(String)).size > 15);
});
