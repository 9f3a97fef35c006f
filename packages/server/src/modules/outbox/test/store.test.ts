/** The contract of `outbox/store.ts`: a job exists if its transaction commits, and one process at a time claims it. */
import assert from 'node:assert/strict';
import type { Db } from '../../../foundation/database/db.ts';
import * as store from '../store.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { now } from '../../../../test-kit/rows.ts';

const newJob = (id: string, more: Partial<store.NewJobRow> = {}): store.NewJobRow => ({
  id,
  kind: 'mail',
  queue: 'mail',
  payload: Buffer.from(id),
  createdAt: now,
  dueAt: now,
  ...more,
});

/** Inserts all in one transaction. */
const add = (db: Db, ...rows: readonly store.NewJobRow[]): Promise<void> =>
  db.transaction(async (tx) => {
    for (const row of rows) await store.insertJobTx(tx, row);
  });

const claim = (db: Db, queue = 'mail', more: { now?: number; max?: number } = {}): Promise<store.JobRow[]> =>
  store.claimJobs(db, queue, { now, max: 100, ...more, claimedUntil: (more.now ?? now) + 100 });

/** SQLite's rows have no prototype. */
const counted = async (db: Db, rowsMax = 10): Promise<store.WaitingJobs[]> =>
  (await store.countJobs(db, rowsMax)).map((row) => ({ ...row }));

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).toSorted();
const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);

onEachDatabase('a job is found after its commit with all its fields, and its attempt is counted', async ({ db }) => {
  await add(db, newJob('one', { createdAt: now - 5, dueAt: now - 1 }));
  assert.deepEqual(await store.findDueQueues(db, now), ['mail']);
  const [row] = await claim(db);
  const { payload, ...rest } = row ?? { payload: Uint8Array.of() };
  assert.deepEqual(rest, { id: 'one', kind: 'mail', queue: 'mail', createdAt: now - 5, attempts: 1, handedOver: 0 });
  assert.deepEqual([...payload], [...Buffer.from('one')]);
});

onEachDatabase('a transaction that is rolled back leaves no job', async ({ db }) => {
  const failed = db.transaction(async (tx) => {
    await store.insertJobTx(tx, newJob('one'));
    throw new Error('the cause failed');
  });
  await assert.rejects(failed, /the cause failed/);
  assert.deepEqual(await store.findDueQueues(db, now), []);
  assert.deepEqual(await claim(db), []);
});

onEachDatabase('a second job with the same id is not inserted', async ({ db }) => {
  await add(db, newJob('one'), newJob('one', { queue: 'other' }));
  assert.deepEqual(await counted(db), [{ kind: 'mail', waiting: 1, oldestAt: now }]);
  assert.deepEqual(await store.findDueQueues(db, now), ['mail']);
});

onEachDatabase('concurrent processes claim each job once', async (opened) => {
  const ids = numbered('msg', rivalsMin * 4);
  await add(opened.db, ...ids.map((id) => newJob(id)));
  const claimed = await raceToValues(opened, rivalsMin * 2, (db) => claim(db, 'mail', { max: 3 }));
  const first = claimed.flat();
  assert.equal(new Set(idsOf(first)).size, first.length);
  assert.ok(claimed.every((rows) => rows.length <= 3 && rows.every(({ attempts }) => attempts === 1)));
  const rest = await claim(opened.db);
  assert.deepEqual(idsOf([...first, ...rest]), ids);
  assert.deepEqual(await claim(opened.db), []);
});

onEachDatabase(
  'the jobs that are due the longest are claimed first, at most the given number, of one queue',
  async ({ db }) => {
    await add(db, newJob('late', { dueAt: now }), newJob('early', { dueAt: now - 9 }), newJob('b', { dueAt: now - 9 }));
    await add(db, newJob('future', { dueAt: now + 1 }), newJob('foreign', { queue: 'other', dueAt: now - 20 }));
    assert.deepEqual(idsOf(await claim(db, 'mail', { max: 2 })), ['b', 'early']);
    assert.deepEqual(idsOf(await claim(db)), ['late']);
    assert.deepEqual(await store.findDueQueues(db, now), ['other']);
    assert.deepEqual(await store.findDueQueues(db, now + 1), ['mail', 'other']);
  },
);

onEachDatabase('the jobs of a dead process can be claimed after their claims end, and not before', async ({ db }) => {
  await add(db, newJob('one'));
  await claim(db);
  assert.deepEqual(await claim(db, 'mail', { now: now + 99 }), []);
  assert.deepEqual(await store.findDueQueues(db, now + 99), []);
  assert.deepEqual(await store.findDueQueues(db, now + 100), ['mail']);
  const [again] = await claim(db, 'mail', { now: now + 100 });
  assert.deepEqual([again?.id, again?.attempts], ['one', 2]);
});

onEachDatabase(
  'a postponed job is due at its time, and a released one immediately without a counted attempt',
  async ({ db }) => {
    await add(db, newJob('one'), newJob('two', { queue: 'other' }));
    await claim(db);
    await store.postponeJob(db, { id: 'one', handedOver: 0 }, now + 50, 'the mail server is down');
    assert.deepEqual(await claim(db, 'mail', { now: now + 49 }), []);
    assert.equal((await claim(db, 'mail', { now: now + 50 }))[0]?.attempts, 2);
    await claim(db, 'other');
    await store.releaseJob(db, 'two');
    assert.equal((await claim(db, 'other'))[0]?.attempts, 1);
  },
);

onEachDatabase('the end of a message is recorded by one process, and a postponement sets the count', async ({ db }) => {
  await add(db, newJob('one'));
  const handOver = (handedOver: number): Promise<boolean> =>
    db.transaction((tx) => store.handOverJobTx(tx, { id: 'one', handedOver }, now + 3_600_000));
  await claim(db);
  assert.deepEqual([await handOver(0), await handOver(0), await handOver(1)], [true, false, true]);
  assert.deepEqual(await claim(db, 'mail', { now: now + 3_599_999 }), []);
  assert.equal((await claim(db, 'mail', { now: now + 3_600_000 }))[0]?.handedOver, 2);
  await store.postponeJob(db, { id: 'one', handedOver: 0 }, now, 'rejected');
  assert.equal((await claim(db))[0]?.handedOver, 0);
  assert.equal(await db.transaction((tx) => store.handOverJobTx(tx, { id: 'gone', handedOver: 0 }, now)), false);
});

onEachDatabase('a queue with thousands of due jobs hides no other queue', async ({ db }) => {
  await add(db, ...numbered('a', 3_000).map((id) => newJob(id, { queue: 'a', dueAt: now - 1_000 })));
  await add(db, newJob('z', { queue: 'z' }));
  assert.deepEqual(await store.findDueQueues(db, now), ['a', 'z']);
  assert.deepEqual(idsOf(await claim(db, 'z')), ['z']);
  assert.deepEqual(idsOf(await claim(db, 'a', { max: 2 })), ['a0000', 'a0001']);
});

onEachDatabase('a done job is removed, and a queue can be emptied without affecting others', async ({ db }) => {
  await add(db, newJob('one'), newJob('two', { queue: 'gone' }), newJob('three', { queue: 'gone' }));
  await db.transaction((tx) => store.removeQueueTx(tx, 'gone'));
  assert.deepEqual(await store.findDueQueues(db, now), ['mail']);
  await db.transaction((tx) => store.removeJobTx(tx, 'one'));
  assert.deepEqual(await counted(db), []);
});

onEachDatabase('jobs are counted by kind with the oldest, up to a bound', async ({ db }) => {
  await add(db, newJob('one', { createdAt: now - 7 }), newJob('two'), newJob('hook', { kind: 'webhook' }));
  assert.deepEqual(await counted(db), [
    { kind: 'mail', waiting: 2, oldestAt: now - 7 },
    { kind: 'webhook', waiting: 1, oldestAt: now },
  ]);
  const bounded = await counted(db, 2);
  assert.equal(
    bounded.reduce((sum, { waiting }) => sum + waiting, 0),
    2,
  );
});
