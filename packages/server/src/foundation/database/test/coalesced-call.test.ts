/** Waiting callers share a call that begins after they arrived. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { CoalescedCall } from '../coalesced-call.ts';

test('waiting callers share the next call, and no caller joins one that has begun', async () => {
  const ends: (() => void)[] = [];
  const shared = new CoalescedCall(() => new Promise<void>((resolve) => ends.push(resolve)));
  const completed: string[] = [];
  const call = (name: string): Promise<unknown> => shared.call().then(() => completed.push(name));
  const first = call('first');
  const others = Array.from({ length: 16 }, (_, other) => call(`other ${other}`));
  assert.equal(ends.length, 1);
  ends[0]?.();
  await first;
  await turn();
  assert.deepEqual([ends.length, completed], [2, ['first']]);
  ends[1]?.();
  await Promise.all(others);
  assert.equal(ends.length, 2);
});

test('a failed call fails for its callers, and the next call is made', async () => {
  let calls = 0;
  const shared = new CoalescedCall(() =>
    ++calls === 1 ? Promise.reject(new Error('unreachable')) : Promise.resolve(),
  );
  const outcomes = await Promise.allSettled([shared.call(), shared.call(), shared.call()]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  assert.equal(calls, 2);
});
