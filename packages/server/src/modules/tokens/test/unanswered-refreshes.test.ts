/** The record of refreshes that got no response: bounded in number and in time. */
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

/** A database that a test takes away, and a clock that it moves. */
function fixture() {
  let [ms, isAway] = [0, false];
  const unanswered = new UnansweredRefreshes({
    ping: async () => {
      if (isAway) throw new Error('away');
    },
    monotonic: () => ms,
  });
  return {
    unanswered,
    advance: (seconds: number) => (ms += seconds * 1000),
    setAway: (value: boolean) => (isAway = value),
    failedAt: (sessionId: string, generation = 1) => unanswered.failedAt({ sessionId, generation }),
  };
}

test('a refresh is remembered for the whole outage and for ten minutes after it', async () => {
  const at = fixture();
  at.setAway(true);
  at.unanswered.note(refresh('a'));
  at.advance(86_400);
  assert.equal(at.failedAt('a'), 1_000);
  assert.equal(at.failedAt('a', 2), undefined, 'another token of the session');
  assert.equal(at.failedAt('b'), undefined, 'another session');
  at.setAway(false);
  await at.unanswered.settled;
  at.advance(limits.unansweredRefreshSeconds - 1);
  assert.equal(at.failedAt('a'), 1_000);
  at.advance(1);
  assert.equal(at.failedAt('a'), undefined);
  assert.equal(at.unanswered.size, 0);
});

test('a second outage prolongs it, a client that drops its connections does not', async () => {
  for (const [isOutage, expected] of [
    [true, 1_000],
    [false, undefined],
  ] as const) {
    const at = fixture();
    at.unanswered.note(refresh('a'));
    await at.unanswered.settled;
    at.advance(limits.unansweredRefreshSeconds - 1);
    at.unanswered.note(refresh('a', { failedAt: 2_000, isOutage }));
    await at.unanswered.settled;
    at.advance(1);
    assert.equal(at.failedAt('a'), expected);
  }
});

test('the newest token of a session counts, and the first failure of each', async () => {
  const at = fixture();
  at.unanswered.note(refresh('a', { generation: 2, failedAt: 1 }));
  at.unanswered.note(refresh('a', { generation: 2, failedAt: 2 }));
  at.unanswered.note(refresh('a', { generation: 1, failedAt: 3 }));
  assert.deepEqual([at.failedAt('a', 2), at.failedAt('a', 1)], [1, undefined]);
  at.unanswered.note(refresh('a', { generation: 3, failedAt: 4 }));
  assert.deepEqual([at.failedAt('a', 3), at.failedAt('a', 2)], [4, undefined]);
});

test('the record is bounded: those that came first keep their place until their time is over', async () => {
  const at = fixture();
  for (let index = 0; index < limits.unansweredRefreshesMax; index++) at.unanswered.note(refresh(`s${index}`));
  at.unanswered.note(refresh('one more'));
  assert.equal(at.unanswered.size, limits.unansweredRefreshesMax);
  assert.deepEqual([at.failedAt('s0'), at.failedAt('one more')], [1_000, undefined]);
  await at.unanswered.settled;
  at.advance(limits.unansweredRefreshSeconds);
  at.unanswered.note(refresh('one more'));
  assert.deepEqual([at.failedAt('one more'), at.unanswered.size], [1_000, 1]);
});

test('each piece of news is passed on once, what a peer told is not', async () => {
  const at = fixture();
  const told: string[] = [];
  at.unanswered.onNote = ({ sessionId }) => void told.push(sessionId);
  at.unanswered.note(refresh('own'));
  at.unanswered.note(refresh('own'));
  at.unanswered.keep(refresh('of a peer'));
  at.unanswered.note(refresh('of a peer', { isOutage: false }));
  assert.deepEqual(told, ['own']);
  assert.equal(at.failedAt('of a peer'), 1_000);
});
