/** The longest delay of the event loop, and its place in the log. */
import assert from 'node:assert/strict';
import { monotonicMs } from '../../foundation/clock.ts';
import { until } from '../../../test-kit/until.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { EventLoopDelay, RollingMax } from '../metrics/event-loop-delay.ts';

const blockedMs = 60;
const shortestReportedMs = 40;

test('the delay of a blocked event loop is reported once, also when the last period has just ended', async () => {
  const delay = new EventLoopDelay();
  try {
    for (let period = 0; period < 3; period++) {
      delay.takeMaxMs();
      for (const endMs = monotonicMs() + blockedMs; monotonicMs() < endMs;);
      const isReported = async (): Promise<boolean> => delay.takeMaxMs() >= shortestReportedMs;
      await until('the delay is reported', isReported);
      assert.equal(delay.takeMaxMs(), 0);
    }
  } finally {
    delay.stop();
  }
});

test('a rolling maximum keeps each value for its period, and readers take none from one another', () => {
  const recent = new RollingMax(60_000);
  recent.add(5, 1_000);
  recent.add(3, 12_000);
  assert.deepEqual([recent.at(12_000), recent.at(12_000)], [5, 5]);
  // Every value counts for at least 50 s, and none for more than 60 s.
  assert.equal(recent.at(59_999), 5);
  assert.equal(recent.at(60_000), 3);
  assert.equal(recent.at(72_000), 0);
  recent.add(2, 72_000);
  assert.equal(recent.at(200_000), 0);
});

test('the log contains the results of verifications with the longest delay of the event loop', async () => {
  const app = await newApp();
  const authorization = `Bearer ${await app.serviceKey()}`;
  assert.equal((await app.call('GET', '/auth/forward', { headers: { authorization } })).status, 200);
  await app[Symbol.asyncDispose]();
  const [line] = app.logLines
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .filter(({ event }) => event === 'verifications');
  const { api_key: verified, eventLoopDelayMaxMs } = line ?? {};
  assert.equal(verified, 1);
  assert.ok(Number.isSafeInteger(eventLoopDelayMaxMs), JSON.stringify(line));
});
