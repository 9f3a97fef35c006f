/** The times of verdicts that the failover runs publish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSince, longestGap, type Verdict } from './verdict-watch.ts';

const verdict = (startedMs: number, endedMs: number): Verdict => ({ startedMs, endedMs });

test('the time without a verdict begins with the watch, and ends with the response to a later request', () => {
  const verdicts = [verdict(10, 20), verdict(15, 18), verdict(100, 130), verdict(120, 125)];
  assert.equal(longestGap(verdicts, 0), 105);
  assert.equal(longestGap(verdicts, -200), 218);
  assert.equal(longestGap([], 0), Infinity);
});

test('a verdict of a request that began before the promotion is none of the new leader', () => {
  assert.equal(firstSince([verdict(10, 60), verdict(55, 90), verdict(56, 70)], 50), 20);
  assert.equal(firstSince([verdict(10, 60)], 50), Infinity);
});
