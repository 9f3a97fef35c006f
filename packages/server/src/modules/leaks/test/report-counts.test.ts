/** Counts of reports: per client IP range and network, bounded in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { ReportCounts } from '../report-counts.ts';

const isAccepted = (counts: ReportCounts, clientIp: string): boolean => {
  try {
    counts.count(clientIp);
    return true;
  } catch (error) {
    assert.equal(codeOf(error), 'too_many_requests');
    return false;
  }
};

const countAccepted = (counts: ReportCounts, times: number, ipOf: (n: number) => string): number =>
  Array.from({ length: times }, (_, n) => isAccepted(counts, ipOf(n))).filter(Boolean).length;

test('a client IP range sends a bounded number of reports in an hour', () => {
  const clock = new FakeClock();
  const counts = new ReportCounts(clock);
  const max = limits.leakReportsPerHourMax;
  assert.equal(
    countAccepted(counts, max + 1, (n) => `2001:db8:1:2::${n}`),
    max,
  );
  assert.equal(isAccepted(counts, '2001:db8:1:3::1'), true, 'another range');
  clock.advance({ seconds: 3_599 });
  assert.equal(isAccepted(counts, '2001:db8:1:2::1'), false);
  clock.advance({ seconds: 1 });
  assert.equal(isAccepted(counts, '2001:db8:1:2::1'), true);
});

test('the ranges of a network together send a bounded number of reports', () => {
  const counts = new ReportCounts(new FakeClock());
  const max = limits.leakReportsPerNetworkMax;
  assert.equal(
    countAccepted(counts, max + 8, (n) => `2001:db8:1:${n.toString(16)}::1`),
    max,
  );
  assert.equal(
    countAccepted(counts, max + 8, (n) => `192.0.2.${n % 200}`),
    max,
  );
  assert.equal(isAccepted(counts, '198.51.100.1'), true);
});

test('the counts in memory are bounded, and the oldest are dropped first', () => {
  const counts = new ReportCounts(new FakeClock(), 4);
  const max = limits.leakReportsPerHourMax;
  const fill = (clientIp: string): number => countAccepted(counts, max, () => clientIp);
  assert.equal(fill('192.0.2.1'), max);
  assert.equal(fill('198.51.100.1'), max);
  assert.equal(isAccepted(counts, '192.0.2.1'), false);
  assert.equal(isAccepted(counts, '203.0.113.1'), true);
  assert.deepEqual([isAccepted(counts, '198.51.100.1'), isAccepted(counts, '192.0.2.1')], [false, true]);
});
