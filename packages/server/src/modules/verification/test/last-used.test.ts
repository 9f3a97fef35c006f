/** Times of last use are collected in memory, bounded, and written in batches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { LastUsed } from '../last-used.ts';

const now = Date.UTC(2026, 10, 21, 9, 30);
const resolutionMs = limits.lastUsedResolutionSeconds * 1000;

const unknown = (): undefined => undefined;
const key = (id: number) => ({ id, overlapEndsAt: null });

/** Records the writes in a list. */
function newLastUsed() {
  const writes: [number, number][][] = [];
  const lastUsed = new LastUsed(async (uses) => void writes.push(uses.map(({ id, at }) => [id, at])));
  return { lastUsed, writes };
}

test('the first time of a key since the last write is written, once', async () => {
  const { lastUsed, writes } = newLastUsed();
  lastUsed.record(key(1), now, null, unknown);
  lastUsed.record(key(2), now + 1, null, unknown);
  lastUsed.record(key(1), now + 2, null, unknown);
  assert.deepEqual(writes, [], 'a verification writes nothing');
  await lastUsed.flush();
  assert.deepEqual(writes, [
    [
      [1, now],
      [2, now + 1],
    ],
  ]);
  await lastUsed.flush();
  assert.equal(writes.length, 1, 'no time is written twice');
});

test('a time is recorded only when the stored time is old enough', async () => {
  const { lastUsed, writes } = newLastUsed();
  lastUsed.record(key(1), now + resolutionMs - 1, now, unknown);
  lastUsed.record(key(2), now + resolutionMs, now, unknown);
  lastUsed.record(key(3), now - 5, now, unknown);
  await lastUsed.flush();
  assert.deepEqual(writes, [[[2, now + resolutionMs]]]);
});

test('the number of recorded keys is bounded, and a flush makes room for others', async () => {
  const { lastUsed, writes } = newLastUsed();
  for (let id = 1; id <= limits.lastUsedPendingMax + 10; id++) lastUsed.record(key(id), now, null, unknown);
  await lastUsed.flush();
  const written = writes.flat();
  assert.equal(written.length, limits.lastUsedPendingMax);
  assert.equal(written.at(-1)?.[0], limits.lastUsedPendingMax);
  assert.ok(writes.every((write) => write.length <= 500));
  lastUsed.record(key(limits.lastUsedPendingMax + 1), now, null, unknown);
  await lastUsed.flush();
  assert.deepEqual(writes.at(-1), [[limits.lastUsedPendingMax + 1, now]]);
});

test('the times of frequently used keys leave room for the first use in a day of other keys', async () => {
  const { lastUsed, writes } = newLastUsed();
  const half = limits.lastUsedPendingMax / 2;
  const dayMs = 86_400_000;
  for (let id = 1; id <= half + 10; id++) lastUsed.record(key(id), now, now - dayMs + 1, unknown);
  lastUsed.record(key(1_000_001), now, now - dayMs, unknown);
  lastUsed.record(key(1_000_002), now, null, unknown);
  await lastUsed.flush();
  assert.deepEqual(
    writes.flat().map(([id]) => id),
    [...Array.from({ length: half }, (_, index) => index + 1), 1_000_001, 1_000_002],
  );
});

test('a time that is recorded during a write is written by the next flush', async () => {
  const writes: [number, number][][] = [];
  const gate = Promise.withResolvers<undefined>();
  const lastUsed = new LastUsed(async (uses) => {
    writes.push(uses.map(({ id, at }) => [id, at]));
    await gate.promise;
  });
  lastUsed.record(key(1), now, null, unknown);
  const first = lastUsed.flush();
  lastUsed.record(key(1), now + 1, null, unknown);
  lastUsed.record(key(2), now + 1, null, unknown);
  gate.resolve(undefined);
  await first;
  await lastUsed.flush();
  assert.deepEqual(writes, [
    [[1, now]],
    [
      [1, now + 1],
      [2, now + 1],
    ],
  ]);
});

test('a flush during another one returns after all times recorded before it are written', async () => {
  const written: number[] = [];
  const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
  let writes = 0;
  const lastUsed = new LastUsed(async (uses) => {
    await gates[writes++]?.promise;
    written.push(...uses.map(({ id }) => id));
  });
  const ended: string[] = [];
  const flush = (name: string): Promise<void> => lastUsed.flush().then(() => void ended.push(name));
  lastUsed.record(key(1), now, null, unknown);
  const flushes = [flush('first')];
  // Nothing new is recorded, but the first flush has not written yet.
  flushes.push(flush('second'));
  lastUsed.record(key(2), now, null, unknown);
  flushes.push(flush('third'));
  await turn();
  assert.deepEqual([ended, written], [[], []]);
  gates[0].resolve(undefined);
  await turn();
  assert.deepEqual([ended, written], [['first'], [1]]);
  gates[1].resolve(undefined);
  await Promise.all(flushes);
  assert.deepEqual(
    [ended.toSorted(), written],
    [
      ['first', 'second', 'third'],
      [1, 2],
    ],
  );
});

test('a failed write throws, and the next flush writes its times, or later ones of the same keys', async () => {
  let isBroken = false;
  const written: [number, number][] = [];
  const lastUsed = new LastUsed(async (uses) => {
    await turn();
    if (isBroken) throw new Error('the database is down');
    written.push(...uses.map(({ id, at }): [number, number] => [id, at]));
    // The second write of the flush fails.
    isBroken = uses.length === 500;
  });
  for (let id = 1; id <= 502; id++) lastUsed.record(key(id), now, null, unknown);
  const failing = assert.rejects(lastUsed.flush(), { message: 'the database is down' });
  lastUsed.record(key(502), now + 1, null, unknown);
  lastUsed.record(key(503), now + 1, null, unknown);
  await failing;
  isBroken = false;
  written.length = 0;
  await lastUsed.flush();
  assert.deepEqual(written, [
    [501, now],
    [502, now + 1],
    [503, now + 1],
  ]);
});

test('the times of a failed write keep their places within the bound', async () => {
  let isBroken = true;
  const written: number[] = [];
  const lastUsed = new LastUsed(async (uses) => {
    await turn();
    if (isBroken) throw new Error('the database is down');
    written.push(...uses.map(({ id }) => id));
  });
  const max = limits.lastUsedPendingMax;
  for (let id = 1; id < max; id++) lastUsed.record(key(id), now, null, unknown);
  const failing = assert.rejects(lastUsed.flush());
  for (const id of [max, max + 1]) lastUsed.record(key(id), now, null, unknown);
  await failing;
  lastUsed.record(key(max + 2), now, null, unknown);
  isBroken = false;
  await lastUsed.flush();
  assert.deepEqual(
    written,
    Array.from({ length: max }, (_, index) => index + 1),
  );
});

test('the client IP range of the last use is recorded, never the IP address', async () => {
  const written: (string | null)[] = [];
  const lastUsed = new LastUsed(async (uses) => void written.push(...uses.map(({ from }) => from)));
  const ips = ['203.0.113.77', '::ffff:203.0.113.77', '2001:db8:1:2:3:4:5:6', undefined];
  for (const [id, ip] of ips.entries()) lastUsed.record(key(id), now, null, () => ip);
  await lastUsed.flush();
  assert.deepEqual(written, ['203.0.113.0/24', '203.0.113.0/24', '2001:db8:1::/48', null]);
});
