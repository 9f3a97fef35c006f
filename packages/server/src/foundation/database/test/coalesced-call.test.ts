/** One call for all that wait for it, and never one that had begun before. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { CoalescedCall } from '../coalesced-call.ts';

test('callers that wait share the next call, and none joins one that has begun', async () => {
  const ends: (() => void)[] = [];
  const shared = new CoalescedCall(() => new Promise<void>((resolve) => ends.push(resolve)));
  const answered: string[] = [];
  const call = (name: string): Promise<unknown> => shared.call().then(() => answered.push(name));
  const first = call('first');
  const others = Array.from({ length: 16 }, (_, other) => call(`other ${other}`));
  assert.equal(ends.length, 1);
  ends[0]?.();
  await first;
  await turn();
  assert.deepEqual([ends.length, answered], [2, ['first']]);
  ends[1]?.();
  await Promise.all(others);
  assert.equal(ends.length, 2);
});

test('a call that fails fails for those who waited for it, and the next is made', async () => {
  let calls = 0;
  const shared = new CoalescedCall(() => (++calls === 1 ? Promise.reject(new Error('away')) : Promise.resolve()));
  const outcomes = await Promise.allSettled([shared.call(), shared.call(), shared.call()]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  assert.equal(calls, 2);
});
