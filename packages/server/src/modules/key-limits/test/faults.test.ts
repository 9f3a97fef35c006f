/** Limits when the database or the service fails: no token is spent twice, and no verification is accepted without one. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import { codeOf, onEachDatabase, outcomes, tally } from '../../../../test-kit/store-on-each-database.ts';
import { daily, instance, limited, quota } from './instances.ts';

type Transact = Db['transaction'];

/** The same database with other transactions. */
const withTransactions = (db: Db, transaction: Transact): Db =>
  new Proxy(db, {
    get: (target, name) => (name === 'transaction' ? transaction : (Reflect.get(target, name, target) as unknown)),
  });

onEachDatabase('a draw of unknown outcome counts as drawn, and its tokens are not spent', async ({ db }) => {
  let isLost = true;
  const transact: Transact = async (body, options) => {
    const value = await db.transaction(body, options);
    if (isLost) throw unavailable(new Error('the connection broke'), true);
    return value;
  };
  const { limiter, spend, spendMany } = instance(withTransactions(db, transact));
  assert.deepEqual(outcomes(await Promise.allSettled([spend(daily(10)), spend(daily(10))])), { unavailable: 2 });
  isLost = false;
  assert.deepEqual(await spendMany(daily(10), 10), { accepted: 8, quota: 2 });
  assert.deepEqual({ ...limiter.draws }, { committed: 1, failed: 0, unknown: 1 });
});

onEachDatabase(
  'a failed draw spends nothing, fails all verifications that wait, and the next draw succeeds',
  async ({ db }) => {
    let isDown = true;
    const transact: Transact = (body, options) =>
      isDown ? Promise.reject(unavailable(new Error('read-only'))) : db.transaction(body, options);
    const { limiter, spend, spendMany } = instance(withTransactions(db, transact));
    const settled = await Promise.allSettled(Array.from({ length: 300 }, (_, id) => spend(daily(10, id + 1))));
    assert.deepEqual(outcomes(settled), { unavailable: 300 });
    assert.equal(limiter.waiting, 0);
    isDown = false;
    assert.deepEqual(await spendMany(daily(10, 1), 11), { accepted: 10, quota: 1 });
  },
);

onEachDatabase('invalid stored limits fail only the verifications of their key', async ({ db }) => {
  const { limiter, spend } = instance(db);
  const invalid = [
    '{"rate":{"limit":0.5,"windowSeconds":1,"burst":1},"quota":null}',
    '{"rate":{"limit":5,"windowSeconds":0,"burst":1},"quota":null}',
    '{"rate":{"limit":5,"windowSeconds":1,"burst":6},"quota":null}',
    '{"rate":{"limit":5,"windowSeconds":1},"quota":null}',
    '{"rate":null,"quota":{"limit":-1,"per":"day"}}',
    '{"rate":null,"quota":{"limit":1e300,"per":"day"}}',
    '{"rate":null,"quota":{"limit":5,"per":"week"}}',
    '{"rate":null}',
    'null',
    '5',
    '{',
    '',
  ];
  const failed = invalid.map((text, id) => spend({ ...daily(1, 100 + id), limits: text }).catch(codeOf));
  const ofAccount = spend({ ...daily(1, 99), accountId: 'acc_2', accountLimits: '{}' }).catch(codeOf);
  const accepted = Array.from({ length: 300 }, (_, id) => spend(daily(1, 1_000 + id)));
  assert.deepEqual(tally(await Promise.all([...failed, ofAccount])), { unavailable: invalid.length + 1 });
  assert.deepEqual(tally((await Promise.all(accepted)).map(({ exceeded }) => exceeded?.kind)), { undefined: 300 });
  assert.equal(limiter.draws.failed, 0);
});

onEachDatabase('a draw that fails while the database works fails no verification outside it', async ({ db }) => {
  let isBroken = true;
  const transact: Transact = async (body, options) => {
    if (!isBroken) return db.transaction(body, options);
    isBroken = false;
    throw new RangeError('a defect');
  };
  const { spend } = instance(withTransactions(db, transact));
  const perDraw = limits.limitsPerDrawMax;
  const all = Array.from({ length: 3 * perDraw }, (_, id) => spend(daily(10, id + 1)));
  const settled = await Promise.allSettled(all);
  assert.deepEqual(tally(settled.map(({ status }) => status)), { rejected: perDraw, fulfilled: 2 * perDraw });
});

onEachDatabase('a transaction that runs twice draws once', async ({ db }) => {
  const transact: Transact = async (body, options) => {
    await db
      .transaction(async (tx) => {
        await body(tx);
        throw new Error('conflict');
      }, options)
      .catch(() => undefined);
    return db.transaction(body, options);
  };
  const { spendMany } = instance(withTransactions(db, transact));
  assert.deepEqual(await spendMany(daily(10), 12), { accepted: 10, quota: 2 });
});

onEachDatabase('tokens that expire before their draw has committed are not spent', async ({ db }) => {
  let delays = 1;
  const slow = instance(
    withTransactions(db, async (body, options) => {
      const value = await db.transaction(body, options);
      if (delays-- > 0) slow.advance(1_000);
      return value;
    }),
  );
  const key = limited({ rate: { limit: 10, windowSeconds: 1_000, burst: 2 } });
  slow.advance(0);
  const window = limited({ rate: { limit: 10, windowSeconds: 1 } });
  assert.equal((await slow.spend(window)).exceeded, undefined);
  assert.deepEqual({ ...slow.limiter.draws }, { committed: 2, failed: 0, unknown: 0 });
  assert.deepEqual({ ...slow.limiter.waits }, { waited: 1, rejected: 0 });
  delays = 1_000;
  assert.equal(await slow.spend(window).catch(codeOf), 'unavailable');
  // Its tokens are valid for a minute.
  assert.equal(((await slow.spend(key)) as { exceeded: unknown }).exceeded, undefined);
});

onEachDatabase('a draw after the database has closed fails', async ({ connect }) => {
  const db = await connect();
  const { spend } = instance(db);
  await spend(daily(10));
  await db.close();
  assert.equal(await spend(daily(10)).catch(codeOf), 'unavailable');
});

onEachDatabase(
  'an account with thousands of waiting verifications does not reject those of another account',
  async ({ db }) => {
    const started = Promise.withResolvers<void>();
    const { limiter, spend } = instance(
      withTransactions(db, async (body, options) => {
        await started.promise;
        return db.transaction(body, options);
      }),
    );
    const max = limits.drawsWaitingMax;
    const flood = Array.from({ length: max + 100 }, (_, id) => spend(daily(10, id + 1)));
    const others = Array.from({ length: 50 }, (_, id) => spend({ ...daily(10, 10_000 + id), accountId: 'acc_2' }));
    assert.equal(limiter.waiting, max);
    started.resolve();
    const settled = await Promise.allSettled(flood);
    assert.deepEqual(tally(settled.map(({ status }) => status)), { fulfilled: max - 50, rejected: 150 });
    assert.deepEqual(tally((await Promise.all(others)).map(({ exceeded }) => exceeded?.kind)), { undefined: 50 });
    assert.deepEqual({ ...limiter.waits }, { waited: max, rejected: 150 });
  },
);

onEachDatabase(
  'an instance with very many limited keys draws none for later verifications of rarely used ones',
  async ({ db }) => {
    let isDown = true;
    const transact: Transact = (body, options) =>
      isDown ? Promise.reject(unavailable(new Error('read-only'))) : db.transaction(body, options);
    const { limiter, spend } = instance(withTransactions(db, transact));
    const many = Array.from({ length: limits.limitedSubjectsInMemoryMax / 2 }, (_, id) => spend(daily(10, id + 100)));
    await Promise.allSettled(many);
    isDown = false;
    for (const id of [1, 1, 2, 2, 3]) await spend(daily(1_000, id));
    assert.deepEqual({ ...limiter.tokens }, { drawn: 5, spent: 5 });
  },
);

onEachDatabase('keys that share the limit of an account wait together', async ({ db }) => {
  const { limiter, spend } = instance(db);
  const settled = await Promise.all(
    Array.from({ length: 200 }, (_, id) => spend(limited(quota(5), id + 1, quota(120, 'ever')))),
  );
  assert.deepEqual(tally(settled.map(({ exceeded }) => exceeded?.name)), { 'account-quota': 80, undefined: 120 });
  assert.equal(limiter.draws.committed, 1);
});
