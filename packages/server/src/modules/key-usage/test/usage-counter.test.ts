/** Verifications are counted in memory by key and hour, bounded, and written in batches: each once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../../foundation/clock.ts';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import type { HourOfKey } from '../store.ts';
import { UsageCounter, type WriteUsage } from '../usage-counter.ts';

const hour = Date.UTC(2026, 10, 21, 9);

/** Adds the written counts in memory, like the table. */
function newCounter(write: WriteUsage = () => Promise.resolve()) {
  const stored = new Map<string, [accepted: number, refused: number]>();
  const batches: number[] = [];
  const counter = new UsageCounter(async (hours) => {
    await write(hours);
    batches.push(hours.length);
    for (const { keyId, at, accepted, refused } of hours) {
      const name = `${keyId} ${(at - hour) / hourMs}`;
      const [a, r] = stored.get(name) ?? [0, 0];
      stored.set(name, [a + accepted, r + refused]);
    }
  });
  return { counter, batches, stored: () => Object.fromEntries(stored) };
}

test('acceptances and refusals are counted by key and hour, and only a flush writes them', async () => {
  const { counter, stored } = newCounter();
  counter.accept(1, hour);
  counter.accept(1, hour + hourMs - 1);
  counter.refuse(1, hour + 5);
  counter.refuse(2, hour);
  counter.accept(1, hour + hourMs);
  assert.deepEqual(stored(), {}, 'a verification writes nothing');
  await counter.flush();
  assert.deepEqual(stored(), { '1 0': [2, 1], '2 0': [0, 1], '1 1': [1, 0] });
  await counter.flush();
  assert.deepEqual(stored(), { '1 0': [2, 1], '2 0': [0, 1], '1 1': [1, 0] }, 'no count is written twice');
  assert.equal(counter.rows, 0);
  assert.deepEqual(counter.totals, { written: 5, dropped: 0, unknown: 0 });
});

test('a clock that is set back counts in the earlier hour', async () => {
  const { counter, stored } = newCounter();
  counter.accept(1, hour);
  counter.accept(1, hour - 1);
  counter.accept(1, hour);
  await counter.flush();
  assert.deepEqual(stored(), { '1 0': [2, 0], '1 -1': [1, 0] });
});

test('waiting rows are bounded, also during a write; further keys are dropped, and known keys still count', async () => {
  const gate = Promise.withResolvers<undefined>();
  const { counter, batches, stored } = newCounter(() => gate.promise);
  const max = limits.usageRowsPendingMax;
  for (let id = 1; id <= max + 10; id++) counter.accept(id, hour);
  const flushed = counter.flush();
  counter.accept(1, hour);
  counter.accept(max + 1, hour);
  assert.equal(counter.rows, max);
  gate.resolve(undefined);
  await flushed;
  assert.deepEqual(counter.totals, { written: max, dropped: 12, unknown: 0 });
  assert.equal(counter.rows, 0);
  assert.ok(batches.every((rows) => rows <= 500));
  counter.accept(1, hour);
  await counter.flush();
  assert.equal(Object.keys(stored()).length, max);
  assert.deepEqual(stored()['1 0'], [2, 0]);
});

test('a failed flush loses nothing and writes nothing twice', async () => {
  let failures = 1;
  const rows: HourOfKey[][] = [];
  const { counter, stored } = newCounter(async (hours) => {
    if (rows.push([...hours]) === 2 && failures-- > 0) throw unavailable(new Error('the database is down'));
  });
  for (let id = 1; id <= 1_200; id++) counter.accept(id, hour);
  const flushed = counter.flush();
  counter.accept(1_000, hour);
  await assert.rejects(flushed, { code: 'unavailable' });
  assert.equal(Object.keys(stored()).length, 500, 'the flush stops at the error');
  assert.equal(counter.rows, 700);
  counter.accept(1_000, hour);
  await counter.flush();
  const counts = stored();
  assert.equal(Object.keys(counts).length, 1_200);
  assert.deepEqual(counts['1000 0'], [3, 0]);
  assert.equal(
    Object.values(counts).reduce((sum, [accepted]) => sum + accepted, 0),
    1_202,
  );
  assert.deepEqual(counter.totals, { written: 1_202, dropped: 0, unknown: 0 });
  assert.equal(counter.rows, 0);
});

test('the rows of a commit with an unknown outcome are not written again, and are reported', async () => {
  let writes = 0;
  const { counter, stored } = newCounter(async () => {
    if (++writes === 1) throw unavailable(new Error('the connection was cut'), true);
  });
  for (let id = 1; id <= 501; id++) counter.accept(id, hour);
  await assert.rejects(counter.flush(), { code: 'unavailable' });
  assert.equal(counter.rows, 1);
  await counter.flush();
  assert.deepEqual(stored(), { '501 0': [1, 0] });
  assert.deepEqual(counter.totals, { written: 1, dropped: 0, unknown: 500 });
});

test('a flush during another one writes what was counted before its call', async () => {
  const gate = Promise.withResolvers<undefined>();
  const { counter, stored } = newCounter(() => gate.promise);
  counter.accept(1, hour);
  const first = counter.flush();
  await new Promise(setImmediate);
  counter.accept(1, hour);
  const others = [counter.flush(), counter.flush()];
  gate.resolve(undefined);
  await Promise.all([first, ...others]);
  assert.deepEqual(stored(), { '1 0': [2, 0] });
  assert.equal(counter.totals.written, 2);
});
