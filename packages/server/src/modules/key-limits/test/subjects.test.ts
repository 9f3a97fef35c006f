/** The memory of limits is bounded, and dropping what has no tokens costs no limit anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { Budget } from '../budget.ts';
import type { Pool } from '../pool.ts';
import { Subjects, type LimitedKey } from '../subjects.ts';
import { daily, instance } from './instances.ts';

const text = '{"rate":null,"quota":{"limit":1000,"per":"day"}}';
const key = (id: number, of = text): LimitedKey => ({ id, accountId: 'acc_1', limits: of, accountLimits: null });
const max = limits.limitedSubjectsInMemoryMax;

function poolOf(subjects: Subjects, id: number, now: number, of = text): Pool {
  const [pool] = subjects.poolsOf(key(id, of), now);
  assert.ok(pool);
  return pool;
}

function giveTokens(pool: Pool, now: number): void {
  const row = { subject: '1', kind: 'quota', tat: 0, used: 0, period: '' } as const;
  const left = new Budget(pool.meter, row, 0);
  pool.receive({ drawn: 50, held: 50, heldMs: 86_400_000, hasRejected: false, left }, now, 0);
}

test('a key with the same definition keeps its limits, and another definition begins anew', () => {
  const subjects = new Subjects();
  const pool = poolOf(subjects, 1, 0);
  giveTokens(pool, 0);
  assert.equal(poolOf(subjects, 1, 1), pool);
  const changed = poolOf(subjects, 1, 2, text.replace('1000', '999'));
  assert.equal(changed.tokens(2), 0);
  assert.notEqual(poolOf(subjects, 1, 3), pool);
});

test('limits of a key come before those of its account', () => {
  const subjects = new Subjects();
  const both = { ...key(1), accountLimits: text };
  const names = subjects.poolsOf(both, 0).map(({ meter }) => meter.name);
  assert.deepEqual(names, ['key-quota', 'account-quota']);
  assert.equal(subjects.poolsOf(both, 1), subjects.poolsOf(both, 2));
  assert.equal(subjects.poolsOf(both, 3)[1], subjects.poolsOf({ ...both, id: 2 }, 3)[1]);
});

test('a flood of keys drops neither limits with tokens nor limits that verifications wait for', () => {
  const subjects = new Subjects();
  const withTokens = poolOf(subjects, 1, 0);
  giveTokens(withTokens, 0);
  const waitedFor = poolOf(subjects, 2, 0);
  waitedFor.waiting = 1;
  const idle = poolOf(subjects, 3, 0);
  const flood = (from: number, now: number): void => {
    for (let id = from; id < from + max / 2; id++) poolOf(subjects, id, now);
  };
  assert.equal(subjects.hasSpace(1), true);
  flood(max, 1);
  assert.equal(subjects.hasSpace(1), false);
  flood(2 * max, 20_000);
  flood(3 * max, 20_000);
  assert.equal(poolOf(subjects, 1, 20_000), withTokens);
  assert.equal(poolOf(subjects, 2, 20_000), waitedFor);
  assert.notEqual(poolOf(subjects, 3, 20_000), idle);
  // Unused for half a minute while memory is short.
  flood(4 * max, 50_000);
  assert.notEqual(poolOf(subjects, 1, 50_000), withTokens);
});

test('unused limits are dropped while memory is short, also if no new key is used', () => {
  const subjects = new Subjects();
  for (let id = 0; id <= max / 2; id++) giveTokens(poolOf(subjects, id, 0), 0);
  assert.equal(subjects.hasSpace(1), false);
  assert.equal(subjects.hasSpace(29_999), false);
  assert.equal(subjects.hasSpace(40_000), true);
});

test('keys that all hold tokens do not take more than the bound, and one in use keeps its tokens', () => {
  const subjects = new Subjects();
  const used = poolOf(subjects, 1, 0);
  giveTokens(used, 0);
  for (let id = 2; id < 2 * max; id++) {
    const now = id / 10;
    giveTokens(poolOf(subjects, id, now), now);
    if (id % 1_000 === 0) poolOf(subjects, 1, now);
    assert.ok(subjects.size <= max);
  }
  assert.equal(poolOf(subjects, 1, max / 5), used);
});

onEachDatabase('a flood of keys of other accounts does not make a busy key draw more often', async ({ db }) => {
  // Memory does not depend on the database, and a flood needs many draws.
  if (db.dialect === 'postgres') return;
  const { limiter, spend, spendMany } = instance(db);
  const busy = daily(100_000);
  const drawsFor = async (count: number): Promise<number> => {
    const { committed } = limiter.draws;
    for (let spent = 0; spent < count; spent++) await spend(busy);
    return limiter.draws.committed - committed;
  };
  await spendMany(busy, 1_000);
  const before = await drawsFor(3_000);
  const others = Array.from({ length: max / 2 + 1 }, (_, id) => ({
    ...daily(10, 1_000 + id),
    accountId: `acc_${id % 60}`,
  }));
  for (let from = 0; from < others.length; from += 1_000)
    await Promise.all(others.slice(from, from + 1_000).map((other) => spend(other)));
  const during = await drawsFor(3_000);
  assert.ok(during <= before + 1, `${during} draws instead of ${before}`);
});
