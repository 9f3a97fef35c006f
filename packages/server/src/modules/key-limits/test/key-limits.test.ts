/** Limits of keys: exact over several instances, and nothing is spent by a rejected verification. */
import assert from 'node:assert/strict';
import type { KeyLimits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { onEachDatabase, tally } from '../../../../test-kit/store-on-each-database.ts';
import { toLimitsText } from '../definition.ts';
import { KeyLimiter, type LimitedKey, type LimitOutcome } from '../key-limits.ts';

const start = Date.UTC(2026, 10, 21, 9, 30);

/** An instance whose clocks the test advances. */
function instance(db: Db) {
  let passed = 0;
  const limiter = new KeyLimiter({ db, clock: { now: () => start + passed }, monotonicMs: () => passed });
  const spend = (key: LimitedKey, cost = 1): Promise<LimitOutcome> =>
    new Promise((resolve, reject) => limiter.spend(key, cost, resolve, reject));
  /** @returns how many verifications were accepted, and how many each limit rejected */
  const spendMany = async (key: LimitedKey, count: number): Promise<Record<string, number>> => {
    const outcomes = await Promise.all(Array.from({ length: count }, () => spend(key)));
    return tally(outcomes.map(({ exceeded }) => exceeded?.kind ?? 'accepted'));
  };
  const advance = (ms: number): void => void (passed += ms);
  return { spend, spendMany, advance };
}

const limited = (value: KeyLimits | null, id = 7, ofAccount: KeyLimits | null = null): LimitedKey => ({
  id,
  accountId: 'acc_1',
  limits: toLimitsText(value),
  accountLimits: toLimitsText(ofAccount),
});
const quota = (limit: number, per: 'day' | 'month' | 'ever' = 'day'): KeyLimits => ({ quota: { limit, per } });
const daily = (limit: number, id = 7): LimitedKey => limited(quota(limit), id);
const perSecond = (limit: number): LimitedKey => limited({ rate: { limit, windowSeconds: 1 } });

onEachDatabase('three instances together accept exactly a quota', async ({ db, connect }) => {
  const instances = [instance(db), instance(await connect()), instance(await connect())];
  const results = await Promise.all(instances.map(({ spendMany }) => spendMany(daily(100), 60)));
  const accepted = results.reduce((sum, { accepted: count = 0 }) => sum + count, 0);
  assert.equal(accepted, 100);
});

onEachDatabase('a burst is accepted, then what is refilled', async ({ db }) => {
  const { spendMany, advance } = instance(db);
  assert.deepEqual(await spendMany(perSecond(10), 15), { accepted: 10, rate: 5 });
  assert.deepEqual(await spendMany(perSecond(10), 3), { rate: 3 });
  advance(100);
  assert.deepEqual(await spendMany(perSecond(10), 3), { accepted: 1, rate: 2 });
  advance(10_000);
  assert.deepEqual(await spendMany(perSecond(10), 15), { accepted: 10, rate: 5 });
});

onEachDatabase('a rejection states when the limit has room', async ({ db }) => {
  const { spend, spendMany, advance } = instance(db);
  const slow = limited({ rate: { limit: 2, windowSeconds: 60 } });
  await spendMany(slow, 2);
  assert.equal((await spend(slow)).retryAfterSeconds, 30);
  advance(29_000);
  assert.equal((await spend(slow)).retryAfterSeconds, 1);
  advance(1_000);
  assert.equal((await spend(slow)).exceeded, undefined);
  await spendMany(daily(1, 8), 1);
  // 09:30:30 in UTC.
  const tomorrow = await spend(daily(1, 8));
  assert.deepEqual([tomorrow.retryAfterSeconds, tomorrow.retryAt], [14.5 * 3_600 - 30, Date.UTC(2026, 10, 22)]);
  const once = limited(quota(1, 'ever'), 9);
  await spendMany(once, 1);
  const never = await spend(once);
  assert.deepEqual([never.retryAfterSeconds, never.retryAt], [Infinity, Infinity]);
});

onEachDatabase('a verification that one limit rejects spends nothing of the others', async ({ db }) => {
  const { spendMany } = instance(db);
  const both = limited(quota(5), 7, quota(3));
  assert.deepEqual(await spendMany(both, 6), { accepted: 3, quota: 3 });
  assert.deepEqual(await spendMany(daily(5), 3), { accepted: 2, quota: 1 });
});

onEachDatabase('a changed limit applies at once, and what was drawn under the earlier one counts', async ({ db }) => {
  const { spendMany } = instance(db);
  assert.deepEqual(await spendMany(daily(1_000), 200), { accepted: 200 });
  // Also draws what this second's verifications lead to expect for the next one: a twentieth of the limit.
  assert.deepEqual(await spendMany(daily(1_000), 1), { accepted: 1 });
  assert.deepEqual(await spendMany(daily(251), 5), { quota: 5 });
  assert.deepEqual(await spendMany(daily(252), 5), { accepted: 1, quota: 4 });
});

onEachDatabase('a quota that is reduced below what is drawn has nothing left', async ({ db }) => {
  const { spend, spendMany } = instance(db);
  await spendMany(daily(10), 10);
  const { exceeded, states } = await spend(daily(5));
  assert.deepEqual([exceeded?.kind, states.map(({ remaining }) => remaining)], ['quota', [0]]);
});

onEachDatabase('the cost of a verification counts, and a cost of 0 spends nothing', async ({ db }) => {
  const { spend } = instance(db);
  assert.equal((await spend(daily(10), 7)).exceeded, undefined);
  assert.equal((await spend(daily(10), 0)).exceeded, undefined);
  assert.equal((await spend(daily(10), 4)).exceeded?.kind, 'quota');
  assert.equal((await spend(daily(10), 3)).exceeded, undefined);
  assert.equal((await spend(daily(10), 0)).exceeded?.kind, 'quota');
});

onEachDatabase('a verification with a cost above the burst is never accepted', async ({ db }) => {
  const { spend } = instance(db);
  const outcome = await spend(perSecond(10), 11);
  assert.equal(outcome.exceeded?.kind, 'rate');
  assert.equal(outcome.retryAfterSeconds, Infinity);
});
