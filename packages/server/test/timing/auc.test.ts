/** The statistic that compares response times. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { aucOf, bootstrap } from './auc.ts';

/** Random whole numbers below 1,000. @param shift added to each number */
const group = (count: number, shift = 0): Float64Array =>
  Float64Array.from({ length: count }, () => randomInt(1_000) + shift);

test('the AUC is the share of pairs with a larger second number, with half of the equal pairs', () => {
  const of = (first: number[], second: number[]): number => aucOf(Float64Array.from(first), Float64Array.from(second));
  assert.equal(of([1, 2, 3], [4, 5, 6]), 1);
  assert.equal(of([4, 5, 6], [1, 2, 3]), 0);
  assert.equal(of([1, 2, 3], [1, 2, 3]), 0.5);
  assert.equal(of([1, 3], [2]), 0.5);
  assert.equal(of([1, 1, 3], [1, 4]), (1 + 3) / 6);
});

test('the interval contains 0.5 for equal groups, and not for different ones', () => {
  const equal = bootstrap(group(2_000), group(2_000), 200);
  assert.ok(equal.from > 0.44 && equal.to < 0.56, JSON.stringify(equal));
  const different = bootstrap(group(2_000), group(2_000, 150), 200);
  assert.ok(different.from > 0.55, JSON.stringify(different));
});
