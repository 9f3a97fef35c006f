/** Times of last use are collected in memory, bounded, and written in batches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { LastUsed } from '../last-used.ts';

const now = Date.UTC(2026, 10, 21, 9, 30);
const resolutionMs = limits.lastUsedResolutionSeconds * 1000;

const unknown = (): undefined => undefined;

/** Records the writes in a list. */
function newLastUsed() {
  const writes: [number, number][][] = [];
  const lastUsed = new LastUsed(async (uses) => void writes.push(uses.map(({ id, at }) => [id, at])));
  return { lastUsed, writes };
}

test('the first time of a key since the last write is written, once', async () => {
  const { lastUsed, writes } = newLastUsed();
  lastUsed.record(1, now, null, unknown);
  lastUsed.record(2, now + 1, null, unknown);
  lastUsed.record(1, now + 2, null, unknown);
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
  lastUsed.record(1, now + resolutionMs - 1, now, unknown);
  lastUsed.record(2, now + resolutionMs, now, unknown);
  lastUsed.record(3, now - 5, now, unknown);
  await lastUsed.flush();
  assert.deepEqual(writes, [[[2, now + resolutionMs]]]);
});

test('the number of recorded keys is bounded, and a flush makes room for others', async () => {
  const { lastUsed, writes } = newLastUsed();
  for (let id = 1; id <= limits.lastUsedPendingMax + 10; id++) lastUsed.record(id, now, null, unknown);
  await lastUsed.flush();
  const written = writes.flat();
  assert.equal(written.length, limits.lastUsedPendingMax);
  assert.equal(written.at(-1)?.[0], limits.lastUsedPendingMax);
  assert.ok(writes.every((write) => write.length <= 500));
  lastUsed.record(limits.lastUsedPendingMax + 1, now, null, unknown);
  await lastUsed.flush();
  assert.deepEqual(writes.at(-1), [[limits.lastUsedPendingMax + 1, now]]);
});

test('the times of frequently used keys leave room for the first use in a day of other keys', async () => {
  const { lastUsed, writes } = newLastUsed();
  const half = limits.lastUsedPendingMax / 2;
  const dayMs = 86_400_000;
  for (let id = 1; id <= half + 10; id++) lastUsed.record(id, now, now - dayMs + 1, unknown);
  lastUsed.record(1_000_001, now, now - dayMs, unknown);
  lastUsed.record(1_000_002, now, null, unknown);
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
  lastUsed.record(1, now, null, unknown);
  const first = lastUsed.flush();
  lastUsed.record(1, now + 1, null, unknown);
  lastUsed.record(2, now + 1, null, unknown);
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

test('a failed write drops its times and throws, and the next flush succeeds', async () => {
  let isBroken = true;
  const written: number[] = [];
  const lastUsed = new LastUsed(async (uses) => {
    if (isBroken) throw new Error('the database is down');
    written.push(...uses.map(({ id }) => id));
  });
  lastUsed.record(1, now, null, unknown);
  await assert.rejects(lastUsed.flush(), { message: 'the database is down' });
  isBroken = false;
  lastUsed.record(2, now, null, unknown);
  await lastUsed.flush();
  assert.deepEqual(written, [2]);
});

test('the client IP range of the last use is recorded, never the IP address', async () => {
  const written: (string | null)[] = [];
  const lastUsed = new LastUsed(async (uses) => void written.push(...uses.map(({ from }) => from)));
  const ips = ['203.0.113.77', '::ffff:203.0.113.77', '2001:db8:1:2:3:4:5:6', undefined];
  for (const [id, ip] of ips.entries()) lastUsed.record(id, now, null, () => ip);
  await lastUsed.flush();
  assert.deepEqual(written, ['203.0.113.0/24', '203.0.113.0/24', '2001:db8:1::/48', null]);
});
