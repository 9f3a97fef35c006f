/** Root keys that a master key encrypts: which master key opens them, and what is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DamagedRootKeyError, masterKeyIdOf, RootKeys, wrapRootKey } from '../root-key.ts';

const [first, second, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const createdAt = Date.UTC(2026, 10, 1);
const rootKey = Buffer.alloc(32, 9);
const byFirst = wrapRootKey(first, rootKey, { version: 1, generation: 1, createdAt });
const bySecond = wrapRootKey(second, rootKey, { version: 1, generation: 2, createdAt });

test('each master key of an installation opens the same root key, and another master key opens none', () => {
  const rows = [byFirst, bySecond];
  const opened = [first, second].map((key) => RootKeys.open(key, rows));
  assert.deepEqual(
    opened.map((keys) => [keys?.generation, keys?.masterKeyId, keys?.newest]),
    [
      [1, masterKeyIdOf(first), rootKey],
      [2, masterKeyIdOf(second), rootKey],
    ],
  );
  assert.equal(RootKeys.open(other, rows), undefined);
  assert.equal(RootKeys.open(first, [bySecond]), undefined);
});

test('the id of a master key contains no part of it, and neither does a wrapping', () => {
  const id = masterKeyIdOf(first);
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.ok(!first.toString('hex').includes(id));
  assert.ok(!Buffer.from(byFirst.wrapped).includes(rootKey));
  assert.ok(!Buffer.from(byFirst.wrapped).includes(rootKey.toString('base64url').slice(0, 8)));
});

test('each new installation gets another random root key', () => {
  const [one, another] = [RootKeys.create(first, createdAt), RootKeys.create(first, createdAt)];
  assert.notDeepEqual(one.newest, another.newest);
  for (const { newest } of [one, another]) assert.ok(!newest.equals(first));
});

test('all versions of the root key are opened, and the newest one is in use', () => {
  const next = Buffer.alloc(32, 10);
  const superseded = wrapRootKey(first, rootKey, { version: 1, generation: 1, createdAt, supersededBy: 2 });
  const rows = [superseded, wrapRootKey(first, next, { version: 2, generation: 1, createdAt })];
  const opened = RootKeys.open(first, rows);
  assert.deepEqual([opened?.newestVersion, opened?.newest, opened?.keys.get(1)], [2, next, rootKey]);
  assert.throws(() => RootKeys.open(second, [...rows, bySecond]), /the master key lacks version 2/);
});

test('a rotation makes a random version, and the earlier versions open only beside it', () => {
  const created = RootKeys.create(first, createdAt);
  const rotated = created.rotate(first).rotate(first);
  assert.deepEqual([...rotated.keys.keys()], [1, 2, 3]);
  assert.equal(new Set([...rotated.keys.values()].map((key) => key.toString('hex'))).size, 3);
  assert.deepEqual(rotated.keys.get(1), created.newest);
  assert.deepEqual(
    new Set(rotated.rows.map((row) => row.createdAt)),
    new Set([createdAt]),
    'the age of the master key',
  );
  assert.deepEqual(RootKeys.open(first, rotated.rows)?.newest, rotated.newest);
  for (const count of [1, 2])
    assert.throws(() => RootKeys.open(first, rotated.rows.slice(0, count)), /version 3 of the root key is missing/);
  const [oldest] = rotated.rows;
  assert.ok(oldest);
  assert.throws(() => RootKeys.open(first, [{ ...oldest, supersededBy: null }]), DamagedRootKeyError);
});

const changed = Buffer.from(byFirst.wrapped);
changed[20]! ^= 1;
const damaged = {
  'a changed byte': { ...byFirst, wrapped: changed },
  'another version': { ...byFirst, version: 2 },
  'another generation': { ...byFirst, generation: 2 },
  'a wrapping by another master key': { ...bySecond, masterKeyId: byFirst.masterKeyId },
  'an unknown form': { ...byFirst, wrapped: Buffer.alloc(72, 7) },
  'a short value': { ...byFirst, wrapped: byFirst.wrapped.subarray(0, 20) },
  'a root key of another length': wrapRootKey(first, Buffer.alloc(16), { version: 1, generation: 1, createdAt }),
};
for (const [name, row] of Object.entries(damaged))
  test(`a damaged wrapping is rejected: ${name}`, () => {
    assert.throws(() => RootKeys.open(first, [row]), DamagedRootKeyError);
  });
