/** Limits of keys: exact over several instances, and nothing is spent by a rejected verification. */
import assert from 'node:assert/strict';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { daily, instance, limited, perSecond, quota } from './instances.ts';

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

onEachDatabase('a rejection states when the limit has enough tokens', async ({ db }) => {
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

onEachDatabase('a rejection by several limits states when all of them have enough tokens', async ({ db }) => {
  const { spend, spendMany } = instance(db);
  const both = limited(quota(1, 'day'), 7, quota(1, 'month'));
  await spendMany(both, 1);
  const { exceeded, retryAt } = await spend(both);
  assert.deepEqual([exceeded?.name, retryAt], ['account-quota', Date.UTC(2026, 11, 1)]);
  const mixed = limited({ rate: { limit: 1, windowSeconds: 3_600 }, ...quota(2, 'ever') }, 8);
  await spendMany(mixed, 1);
  assert.equal((await spend(mixed)).retryAfterSeconds, 3_600);
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

onEachDatabase('a cost above a limit is never accepted, also when an instance holds tokens of it', async ({ db }) => {
  const { limiter, spend, spendMany } = instance(db);
  for (const key of [perSecond(1_000), daily(1_000, 8)]) {
    await spendMany(key, 40);
    // They also draw tokens for later verifications.
    for (let count = 0; count < 3; count++) await spend(key);
    for (const cost of [1_001, 1_010]) {
      const { exceeded, retryAfterSeconds, retryAt } = await spend(key, cost);
      assert.deepEqual([exceeded?.capacity, retryAfterSeconds, retryAt], [1_000, Infinity, Infinity]);
    }
    const { committed } = limiter.draws;
    assert.equal((await spend(key)).exceeded, undefined);
    assert.equal(limiter.draws.committed, committed);
  }
});

onEachDatabase('held and refilled tokens together do not accept a cost above the burst', async ({ db }) => {
  const { limiter, spend, spendMany, advance } = instance(db);
  const key = perSecond(1_000);
  await spendMany(key, 40);
  for (let count = 0; count < 3; count++) await spend(key);
  advance(900);
  const { drawn } = limiter.tokens;
  const { exceeded, retryAfterSeconds } = await spend(key, 1_001);
  assert.deepEqual([exceeded?.kind, retryAfterSeconds], ['rate', Infinity]);
  // The draw that rejected has drawn nothing, and has not extended the validity of the tokens that the instance holds.
  assert.equal(limiter.tokens.drawn, drawn);
  advance(100);
  assert.equal((await spend(key)).exceeded, undefined);
  assert.ok(limiter.tokens.drawn > drawn);
});

onEachDatabase(
  'three instances together accept exactly a burst, and then exactly what is refilled',
  async ({ db, connect }) => {
    const instances = [instance(db), instance(await connect()), instance(await connect())];
    const acceptedOf = async (count: number): Promise<number> => {
      const results = await Promise.all(instances.map(({ spendMany }) => spendMany(perSecond(100), count)));
      return results.reduce((sum, { accepted = 0 }) => sum + accepted, 0);
    };
    assert.equal(await acceptedOf(100), 100);
    for (const { advance } of instances) advance(250);
    assert.equal(await acceptedOf(20), 25);
  },
);

onEachDatabase(
  'hundreds of concurrent verifications with different costs never exceed a quota, and use all of it',
  async ({ db, connect }) => {
    const instances = [instance(db), instance(await connect()), instance(await connect())];
    const key = limited(quota(1_000), 7, quota(700));
    let accepted = 0;
    await Promise.all(
      instances.flatMap(({ spend }) =>
        Array.from({ length: 200 }, async (_, index) => {
          const cost = (index % 5) + 1;
          if ((await spend(key, cost)).exceeded === undefined) accepted += cost;
        }),
      ),
    );
    assert.equal(accepted, 700);
    const left = await instances[0]?.spend(limited(quota(1_000)), 300);
    assert.equal(left?.exceeded, undefined);
  },
);

onEachDatabase('instances that take turns use at least 99 % of a quota', async ({ db, connect }) => {
  const instances = [instance(db), instance(await connect()), instance(await connect())];
  let accepted = 0;
  for (let turn = 0; turn < 30; turn++)
    for (const { spendMany, advance } of instances) {
      advance(100);
      accepted += (await spendMany(daily(1_000), 20))['accepted'] ?? 0;
    }
  assert.ok(accepted >= 990 && accepted <= 1_000, String(accepted));
});

onEachDatabase(
  'a verification that the account’s limit rejects costs the key’s rate nothing, also after its tokens expire',
  async ({ db }) => {
    const { spend, advance } = instance(db);
    const key = limited({ rate: { limit: 10, windowSeconds: 86_400 } }, 7, { rate: { limit: 1, windowSeconds: 10 } });
    for (let second = 0; second < 60; second++) {
      const outcomes = await Promise.all([spend(key), spend(key), spend(key)]);
      assert.equal(outcomes.filter(({ exceeded }) => exceeded === undefined).length, second % 10 === 0 ? 1 : 0);
      advance(1_000);
    }
    const { exceeded } = await spend(limited({ rate: { limit: 10, windowSeconds: 86_400 } }), 4);
    assert.equal(exceeded, undefined);
  },
);

onEachDatabase('a small verification does not overtake a large one that waits for the same limit', async ({ db }) => {
  const { spend } = instance(db);
  const outcomes = await Promise.all([spend(daily(10), 8), spend(daily(10), 3), spend(daily(10), 2)]);
  assert.deepEqual(
    outcomes.map(({ exceeded }) => exceeded?.kind),
    [undefined, 'quota', undefined],
  );
});

onEachDatabase('verifications with an earlier and a later definition of a limit share its tokens', async ({ db }) => {
  const { spend } = instance(db);
  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, index) => spend(daily(index % 2 === 0 ? 20 : 30))));
  assert.equal(outcomes.filter(({ exceeded }) => exceeded === undefined).length, 30);
});

onEachDatabase('an instance draws again from a used-up limit after ten seconds, and not earlier', async ({ db }) => {
  const { limiter, spendMany, advance } = instance(db);
  await spendMany(daily(2), 3);
  const { committed } = limiter.draws;
  advance(9_999);
  assert.deepEqual(await spendMany(daily(2), 1), { quota: 1 });
  assert.equal(limiter.draws.committed, committed);
  advance(1);
  assert.deepEqual(await spendMany(daily(2), 1), { quota: 1 });
  assert.equal(limiter.draws.committed, committed + 1);
});

onEachDatabase('a reached quota is reported once for a period, for the key and for the account', async ({ db }) => {
  const reported: string[] = [];
  const { spend, spendMany, advance } = instance(db, {
    onQuotaReached: ({ owner, subject, per, period, limit }) => {
      reported.push([owner, subject, per, period, limit].join(' '));
      return true;
    },
  });
  assert.deepEqual(reported, []);
  const key = limited(quota(10), 7, quota(25, 'month'));
  // A cost above the limit does not show that the quota is used up.
  assert.equal((await spend(key, 11)).exceeded?.name, 'key-quota');
  await spendMany(key, 9);
  assert.deepEqual(reported, []);
  await spendMany(key, 5);
  await spendMany(key, 5);
  assert.deepEqual(reported.splice(0), ['key 7 day 2026-11-21 10']);
  advance(86_400_000);
  await spendMany(key, 8);
  // Nor does a large cost, while more than a twentieth of the quota is left. Both have too few tokens.
  assert.equal((await spend(key, 9)).exceeded?.name, 'account-quota');
  assert.deepEqual(reported, []);
  await spendMany(key, 2);
  assert.deepEqual(reported.splice(0), ['key 7 day 2026-11-22 10']);
  advance(86_400_000);
  await spendMany(key, 5);
  assert.deepEqual(reported, ['account acc_1 month 2026-11 25']);
});

onEachDatabase('a rejection reports a quota of which at most a twentieth is left', async ({ db }) => {
  const reported: unknown[] = [];
  const { spend } = instance(db, { onQuotaReached: ({ limit }) => reported.push(limit) > 0 });
  await spend(daily(10_000), 1);
  assert.equal((await spend(daily(10_000), 10_000)).exceeded?.name, 'key-quota');
  await spend(daily(10_000), 9_400);
  assert.equal((await spend(daily(10_000), 600)).exceeded?.name, 'key-quota');
  assert.deepEqual(reported, []);
  await spend(daily(10_000), 100);
  assert.equal((await spend(daily(10_000), 600)).exceeded?.name, 'key-quota');
  assert.deepEqual(reported, [10_000]);
});

onEachDatabase('a report of a reached quota that is not kept is repeated by a later draw', async ({ db }) => {
  const answers = [false, true];
  const { spendMany, advance } = instance(db, { onQuotaReached: () => answers.shift() ?? assert.fail() });
  for (let draw = 0; draw < 3; draw++) {
    await spendMany(daily(3), 4);
    advance(10_000);
  }
  assert.deepEqual(answers, []);
});
