/** The memory of limits is bounded, and dropping what has no tokens costs no limit anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { Budget } from '../budget.ts';
import type { Pool } from '../pool.ts';
import { Subjects, type LimitedKey } from '../subjects.ts';

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
  pool.receive(new Budget(pool.meter, row, 0), 50, now, now + 86_400_000, false);
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
  assert.equal(subjects.hasSpace, true);
  flood(max, 1);
  assert.equal(subjects.hasSpace, false);
  flood(2 * max, 20_000);
  flood(3 * max, 20_000);
  assert.equal(poolOf(subjects, 1, 20_000), withTokens);
  assert.equal(poolOf(subjects, 2, 20_000), waitedFor);
  assert.notEqual(poolOf(subjects, 3, 20_000), idle);
  // Unused for more than ten minutes while memory is short.
  flood(4 * max, 700_000);
  assert.notEqual(poolOf(subjects, 1, 700_000), withTokens);
});
