/** The statistic that says whether answers can be told apart by their time. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { aucOf, bootstrap } from './auc.ts';

/** @param shift what is added to each number, out of 1,000 that are equally likely */
const group = (count: number, shift = 0): Float64Array =>
  Float64Array.from({ length: count }, () => randomInt(1_000) + shift);

test('the share of pairs is counted, equal ones as a half', () => {
  const of = (first: number[], second: number[]): number => aucOf(Float64Array.from(first), Float64Array.from(second));
  assert.equal(of([1, 2, 3], [4, 5, 6]), 1);
  assert.equal(of([4, 5, 6], [1, 2, 3]), 0);
  assert.equal(of([1, 2, 3], [1, 2, 3]), 0.5);
  assert.equal(of([1, 3], [2]), 0.5);
  assert.equal(of([1, 1, 3], [1, 4]), (1 + 3) / 6);
});

test('the interval of groups that are alike holds chance, that of groups that differ doesn’t', () => {
  const alike = bootstrap(group(2_000), group(2_000), 200);
  assert.ok(alike.from > 0.44 && alike.to < 0.56, JSON.stringify(alike));
  const different = bootstrap(group(2_000), group(2_000, 150), 200);
  assert.ok(different.from > 0.55, JSON.stringify(different));
});
