/** Audit events and webhook messages for used-up quotas. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newKeyClient } from '../../../../test-kit/key-client.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { OrphanedMeters } from '../../key-limits/orphaned-meters.ts';
import type { QuotaReached } from '../../key-limits/key-limits.ts';
import { QuotaNotices, type QuotaNoticesOptions } from '../quota-notices.ts';
import { createKey } from '../new-key.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { deleteKey } from '../../../../test-kit/store-changes.ts';

const countNotices = sql<{ count: number }>('test_count_quota_notices', 'select count(*) as count from quota_notices');

const insertMeter = sql('test_insert_meter', `insert into key_meters (subject, kind) values ($1, 'quota')`);

const ofKey = (id: number, period = '2026-11-21', limit = 10): QuotaReached => ({
  owner: 'key',
  subject: String(id),
  per: 'day',
  period,
  limit,
});

async function addKeys(db: Db, accountId: string, ids: readonly number[], now: number): Promise<void> {
  for (const id of ids) {
    const key = { id, hash: Buffer.alloc(33, id), hint: 'krv_…0000', accountId, nickname: `key ${id}`, scopes: [] };
    await createKey(db, operator, { ...key, expiresAt: null, now }, { keysMax: 1_000 });
  }
}

/** An account with the keys 1 to 3, and an instance for each connection. */
async function fixture(opened: { readonly db: Db; readonly connect: () => Promise<Db> }) {
  const { db } = opened;
  const clock = new FakeClock();
  const accountId = await addAccount(db);
  await addKeys(db, accountId, [1, 2, 3], clock.now());
  const notices = (on: Db, options: Partial<QuotaNoticesOptions> = {}): QuotaNotices =>
    new QuotaNotices({ db: on, clock, ...options });
  const reached = async (): Promise<unknown[]> =>
    (await listAuditEvents(db))
      .filter(({ action }) => action.endsWith('.quota_reached'))
      .map(({ action, target, actor, accountId: owner, details }) => {
        assert.deepEqual([actor, owner], ['system', accountId]);
        const { period, limit } = JSON.parse(details ?? '') as QuotaReached;
        return [action, target, period, limit];
      });
  const count = async (): Promise<number> => (await db.get(countNotices))?.count ?? 0;
  return { db, clock, accountId, notices, reached, count };
}

onEachDatabase('sixteen instances record one event for each quota, period and limit', async (opened) => {
  const { accountId, notices, reached } = await fixture(opened);
  const ofAccount = { owner: 'account', subject: accountId, per: 'ever', period: 'ever', limit: 5 } as const;
  const quotas = [ofKey(2), ofKey(1), ofKey(1, '2026-11-21', 20), ofAccount, ofKey(3)];
  const instances = [];
  for (let index = 0; index < 16; index++) {
    const instance = notices(index % 4 === 0 ? await opened.connect() : opened.db);
    // In different orders, which must not cause a deadlock.
    for (const quota of index % 2 === 0 ? quotas : quotas.toReversed()) instance.add(quota);
    instances.push(instance);
  }
  await Promise.all(instances.map((instance) => instance.flush()));
  for (const instance of instances) {
    for (const quota of quotas) instance.add(quota);
    await instance.flush();
  }
  const key = 'api_key.quota_reached';
  assert.deepEqual((await reached()).map((event) => JSON.stringify(event)).toSorted(), [
    JSON.stringify(['account.quota_reached', accountId, 'ever', 5]),
    JSON.stringify([key, '1', '2026-11-21', 10]),
    JSON.stringify([key, '1', '2026-11-21', 20]),
    JSON.stringify([key, '2', '2026-11-21', 10]),
    JSON.stringify([key, '3', '2026-11-21', 10]),
  ]);
});

onEachDatabase('each period has its own event, and rows of earlier periods are deleted', async (opened) => {
  const { notices, reached, count } = await fixture(opened);
  const instance = notices(opened.db);
  for (const period of ['2026-11-21', '2026-11-22', '2026-11-22']) {
    instance.add(ofKey(1, period));
    await instance.flush();
  }
  const key = 'api_key.quota_reached';
  assert.deepEqual(await reached(), [
    [key, '1', '2026-11-21', 10],
    [key, '1', '2026-11-22', 10],
  ]);
  assert.equal(await count(), 1);
});

onEachDatabase('changing the period of a quota and back does not repeat its events', async (opened) => {
  const { notices, reached } = await fixture(opened);
  const instance = notices(opened.db);
  const periods = ['2026-11-21', 'ever', '2026-11', '2026-11-21', 'ever', '2026-11'];
  for (const period of periods) {
    instance.add(ofKey(1, period));
    await instance.flush();
  }
  assert.equal((await reached()).length, 3);
});

onEachDatabase('a limit that changes often leaves a bounded number of rows', async (opened) => {
  const { notices, reached, count } = await fixture(opened);
  const instance = notices(opened.db);
  const add = async (limit: number): Promise<void> => {
    instance.add(ofKey(1, 'ever', limit));
    instance.add(ofKey(2, 'ever', 1));
    await instance.flush();
  };
  for (let limit = 1; limit <= 30; limit++) await add(limit);
  assert.equal(await count(), 8 + 1);
  // A lower limit than all stored ones is also published once.
  for (let time = 0; time < 3; time++) await add(1);
  assert.equal((await reached()).length, 30 + 1 + 1);
  assert.equal(await count(), 9 + 1);
});

onEachDatabase('a deleted key gets no event, and its rows are deleted with its meter', async (opened) => {
  const { db, clock, accountId, notices, reached, count } = await fixture(opened);
  const instance = notices(db);
  for (const subject of ['1', '2']) await db.transaction((tx) => tx.run(insertMeter, [subject]));
  for (const id of [1, 2]) instance.add(ofKey(id));
  await instance.flush();
  await deleteKey(db, { principal: operator, now: clock.now() }, accountId, 3);
  instance.add(ofKey(3));
  instance.add({ ...ofKey(1), owner: 'account', subject: 'acc_unknown' });
  await instance.flush();
  assert.equal((await reached()).length, 2);
  assert.equal(await count(), 2);
  await deleteKey(db, { principal: operator, now: clock.now() }, accountId, 1);
  await new OrphanedMeters(db).delete();
  assert.equal(await count(), 1, 'the other key keeps its row');
});

onEachDatabase(
  'a flood of used-up quotas is written in bounded parts, and what is dropped is reported',
  async (opened) => {
    const { notices, reached } = await fixture(opened);
    const dropped: number[] = [];
    const bounds = { waitingMax: 3, noticesPerFlushMax: 2, noticesPerCommitMax: 1 };
    const instance = notices(opened.db, { ...bounds, onDropped: (count) => dropped.push(count) });
    const added = [1, 2, 3, 4, 5, 1].map((limit) => instance.add(ofKey(1, '2026-11-21', limit)));
    assert.deepEqual(added, [true, true, true, false, false, true]);
    const written = async (): Promise<number> => {
      await instance.flush();
      return (await reached()).length;
    };
    assert.deepEqual([await written(), await written(), await written()], [2, 3, 3]);
    assert.deepEqual(dropped, [2]);
    for (const limit of [6, 7, 8]) instance.add(ofKey(1, '2026-11-21', limit));
    await instance.close();
    assert.equal((await reached()).length, 5);
    assert.deepEqual(dropped, [2, 1]);
  },
);

onEachDatabase('after a failed flush, the quotas wait for the next one', async (opened) => {
  const { notices, reached } = await fixture(opened);
  let failures = 1;
  const transaction: Db['transaction'] = (run) =>
    failures-- > 0 ? Promise.reject(new Error('no connection')) : opened.db.transaction(run);
  const db = { transaction } as Db;
  const instance = notices(db);
  instance.add(ofKey(1));
  await assert.rejects(instance.flush(), /no connection/);
  await instance.flush();
  assert.equal((await reached()).length, 1);
});
test('a verification that uses up a quota causes one event', async () => {
  await using client = await newKeyClient({}, { limits: { quota: { limit: 2, per: 'month' } } });
  for (const status of [200, 200, 429, 429]) assert.equal(await client.statusOf(client.key), status);
  await turn();
  const { quotaNotices } = client.app.service.services;
  await quotaNotices.flush();
  await quotaNotices.flush();
  const events = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'api_key.quota_reached');
  assert.deepEqual(
    events.map(({ target, details }) => [target, JSON.parse(details ?? '') as unknown]),
    [[String(client.id), { nickname: 'worker', limit: 2, per: 'month', period: '2026-11' }]],
  );
});
