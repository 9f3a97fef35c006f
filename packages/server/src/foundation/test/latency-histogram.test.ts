/** Buckets and quantiles of durations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatencyHistogram, quantileMs, sumOfCounts } from '../latency-histogram.ts';

const boundsMs = [1, 10, 100];

test('a duration counts in the first bucket whose bound it does not exceed, and beyond all bounds in the last', () => {
  const histogram = new LatencyHistogram(boundsMs);
  for (const ms of [0, 1, 1.5, 10, 100, 100.1, 90_000]) histogram.add(ms);
  assert.deepEqual(histogram.counts, [2, 2, 1, 2]);
  assert.equal(histogram.sumMs, 90_212.6);
});

test('histograms of several processes are added by bucket', () => {
  assert.deepEqual(sumOfCounts([]), []);
  assert.deepEqual(
    sumOfCounts([
      [1, 0, 2],
      [4, 5, 6],
    ]),
    [5, 5, 8],
  );
});

test('a quantile is the upper bound of its bucket, and the last bound for longer durations', () => {
  const histogram = new LatencyHistogram(boundsMs);
  assert.equal(quantileMs(histogram.counts, boundsMs, 0.5), null);
  for (let index = 0; index < 98; index++) histogram.add(0.7);
  histogram.add(7);
  histogram.add(90_000);
  assert.deepEqual(
    [0.5, 0.99, 1].map((quantile) => quantileMs(histogram.counts, boundsMs, quantile)),
    [1, 10, 100],
  );
});
