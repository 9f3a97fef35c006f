/** Waits of tests: their ends, and the report of the watchdog. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaited, awaitedNow, endWaits, until } from './until.ts';

test('a wait ends with its condition, its error, or the watchdog, and is reported until then', async () => {
  let turns = 0;
  await until('the third turn', () => ++turns === 3);
  await assert.rejects(
    until('a condition that fails', () => Promise.reject(new Error('the condition has failed'))),
    /^Error: the condition has failed$/,
  );
  assert.equal(await awaited('a value', Promise.resolve('value')), 'value');
  const never = Promise.withResolvers<never>();
  const waits = [until('pigs fly', () => false), awaited('an answer', never.promise)];
  assert.deepEqual(awaitedNow(), ['pigs fly', 'an answer']);
  endWaits('not within 15 minutes');
  const settled = await Promise.allSettled(waits);
  assert.deepEqual(
    settled.map((one) => one.status === 'rejected' && String(one.reason)),
    ['Error: pigs fly: not within 15 minutes', 'Error: an answer: not within 15 minutes'],
  );
  assert.deepEqual(awaitedNow(), []);
});
