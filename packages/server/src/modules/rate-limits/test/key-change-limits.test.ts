/** The limit on changes of keys, with concurrent changes. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { assertKeyChangeAllowed, countKeyChangeTx } from '../key-change-limits.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { hourMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';

const max = limits.keyChangesPerMinuteMax;
const fillCounters = sql('test_fill_counters', 'update rate_limit_buckets set count = $1');
const hash = keys.rateLimitBucket;
const ada = { kind: 'account', accountId: 'acc_ada' } as const;

const count = async (db: Db, at = now, accountId = 'acc_ada'): Promise<'counted'> => {
  await db.transaction((tx) => countKeyChangeTx(tx, hash, { kind: 'account', accountId }, at));
  return 'counted';
};

onEachDatabase(
  'concurrent changes never exceed the limit of an account, and each account has its own',
  { tags: ['asvs:2.3.4'] },
  async (opened) => {
    const { db } = opened;
    for (let change = 0; change < max - 10; change++) await count(db);
    await assertKeyChangeAllowed(db, hash, ada, now);
    const settled = await race(opened, rivalsMin * 2, (connection) => count(connection));
    assert.deepEqual(outcomes(settled), { counted: 10, too_many_changes: rivalsMin * 2 - 10 });
    assert.equal(await count(db, now, 'acc_bob'), 'counted');

    const isLimited = (error: unknown): boolean => codeOf(error) === 'too_many_changes';
    await assert.rejects(count(db, now + 59_999), isLimited);
    await assert.rejects(assertKeyChangeAllowed(db, hash, ada, now + 59_999), isLimited);
    await assertKeyChangeAllowed(db, hash, ada, now + 60_000);
    assert.equal(await count(db, now + 60_000), 'counted');
  },
);

onEachDatabase(
  'the management keys of an account make at most the maximum number of changes in an hour',
  async ({ db }) => {
    const key = { kind: 'key', accountId: 'acc_ada' } as const;
    const change = () => db.transaction((tx) => countKeyChangeTx(tx, hash, key, now));
    const isLimited = (error: unknown): boolean => codeOf(error) === 'too_many_changes';
    await change();
    // The only counter of the database.
    await db.transaction((tx) => tx.run(fillCounters, [limits.managedChangesPerHourMax - 1]));
    await change();
    await assert.rejects(change(), isLimited);
    await assert.rejects(assertKeyChangeAllowed(db, hash, key, now + hourMs - 1), isLimited);
    await assertKeyChangeAllowed(db, hash, key, now + hourMs);
    assert.equal(await count(db), 'counted', 'changes by a session have their own limit');
  },
);
