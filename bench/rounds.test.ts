/** Statistics of paired rounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, medianInterval, Rounds, type Measured } from './rounds.ts';

/** Of the smallest value that the interval contains, by the number of values: tables of the sign test at 0.05, two-sided. */
const leastRanks: Readonly<Record<number, number>> = {
  6: 1,
  8: 1,
  9: 2,
  11: 2,
  12: 3,
  15: 4,
  20: 6,
  25: 8,
  30: 10,
  40: 14,
  50: 18,
  100: 40,
};

/** Descending. */
const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, index) => count - index);

for (const [count, rank] of Object.entries(leastRanks).map(([text, one]) => [Number(text), one] as const)) {
  test(`the 95 % interval of the median of ${count} values begins at the value of rank ${rank}`, () => {
    assert.deepEqual(medianInterval(numbersTo(count)), [rank, count + 1 - rank]);
  });
}

test('the interval of fewer than six values contains all of them', () => {
  for (const count of [1, 2, 3, 4, 5]) assert.deepEqual(medianInterval(numbersTo(count)), [1, count]);
});

const none = { requests: 1, seconds: 1, perSecond: 1, failures: 0, msP50: 1, msP99: 1, generatorShare: 0 };

test('a ratio is the median of the ratios within a round', () => {
  const measured = (processorUs: number): Measured => ({ ...none, processorUs });
  const rounds = new Rounds(
    new Map([
      ['before', [10, 40, 90].map(measured)],
      ['after', [20, 50, 60].map(measured)],
    ]),
  );
  assert.deepEqual(rounds.ratios('before', 'after', 'processorUs'), [0.5, 0.8, 1.5]);
  assert.equal(rounds.ratio('before', 'after', 'processorUs'), 0.8);
  assert.equal(median([3, 1, 2]), 2);
});
