/** The entries of refreshes without a response are bounded in number and in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { UnansweredRefreshes, type UnansweredRefresh } from '../unanswered-refreshes.ts';

const refresh = (sessionId: string, more: Partial<UnansweredRefresh> = {}): UnansweredRefresh => ({
  sessionId,
  generation: 1,
  failedAt: 1_000,
  isOutage: true,
  ...more,
});

/** A database that a test can make unreachable, and a clock that it can set. */
function fixture() {
  let [ms, isDown] = [0, false];
  const unanswered = new UnansweredRefreshes({
    ping: async () => {
      if (isDown) throw new Error('down');
    },
    monotonic: () => ms,
  });
  return {
    unanswered,
    advance: (seconds: number) => (ms += seconds * 1000),
    setDown: (value: boolean) => (isDown = value),
    failedAt: (sessionId: string, generation = 1) => unanswered.failedAt({ sessionId, generation }),
  };
}

test('an entry lasts for the outage and ten minutes after it', async () => {
  const at = fixture();
  at.setDown(true);
  at.unanswered.record(refresh('a'));
  at.advance(86_400);
  assert.equal(at.failedAt('a'), 1_000);
  assert.equal(at.failedAt('a', 2), undefined, 'another token of the session');
  assert.equal(at.failedAt('b'), undefined, 'another session');
  at.setDown(false);
  await at.unanswered.recovered;
  at.advance(limits.unansweredRefreshSeconds - 1);
  assert.equal(at.failedAt('a'), 1_000);
  at.advance(1);
  assert.equal(at.failedAt('a'), undefined);
  assert.equal(at.unanswered.size, 0);
});

test('a second outage extends an entry, and a closed connection does not', async () => {
  for (const [isOutage, expected] of [
    [true, 1_000],
    [false, undefined],
  ] as const) {
    const at = fixture();
    at.unanswered.record(refresh('a'));
    await at.unanswered.recovered;
    at.advance(limits.unansweredRefreshSeconds - 1);
    at.unanswered.record(refresh('a', { failedAt: 2_000, isOutage }));
    await at.unanswered.recovered;
    at.advance(1);
    assert.equal(at.failedAt('a'), expected);
  }
});

test('the entry of a session is the first failure of its newest token', async () => {
  const at = fixture();
  at.unanswered.record(refresh('a', { generation: 2, failedAt: 1 }));
  at.unanswered.record(refresh('a', { generation: 2, failedAt: 2 }));
  at.unanswered.record(refresh('a', { generation: 1, failedAt: 3 }));
  assert.deepEqual([at.failedAt('a', 2), at.failedAt('a', 1)], [1, undefined]);
  at.unanswered.record(refresh('a', { generation: 3, failedAt: 4 }));
  assert.deepEqual([at.failedAt('a', 3), at.failedAt('a', 2)], [4, undefined]);
});

test('when the limit of entries is reached, the earlier entries are kept until they expire', async () => {
  const at = fixture();
  for (let index = 0; index < limits.unansweredRefreshesMax; index++) at.unanswered.record(refresh(`s${index}`));
  at.unanswered.record(refresh('one more'));
  assert.equal(at.unanswered.size, limits.unansweredRefreshesMax);
  assert.deepEqual([at.failedAt('s0'), at.failedAt('one more')], [1_000, undefined]);
  await at.unanswered.recovered;
  at.advance(limits.unansweredRefreshSeconds);
  at.unanswered.record(refresh('one more'));
  assert.deepEqual([at.failedAt('one more'), at.unanswered.size], [1_000, 1]);
});
