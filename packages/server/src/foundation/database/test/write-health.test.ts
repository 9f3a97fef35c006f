/** Failing writes are reported, and the writer recovers. */
import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { test, type TestContext } from 'node:test';
import type { Db } from '../db.ts';
import { sql } from '../sql.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { newSqliteDb } from '../../../../test-kit/new-db.ts';
import { until } from '../../../../test-kit/until.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';

const createTable = sql('test_create', 'create table things (id integer primary key)');
const insert = sql('test_insert', 'insert into things (id) values ($1)');
const list = sql<{ id: number }>('test_list', 'select id from things order by id');

const add = (db: Db, id: number): Promise<unknown> => db.transaction((tx) => tx.run(insert, [id])).catch(codeOf);

/** Collects the threads that receive a message from now on. */
function watchWorkers(t: TestContext): Set<Worker> {
  const workers = new Set<Worker>();
  const post = Reflect.get(Worker.prototype, 'postMessage') as (...args: unknown[]) => unknown;
  t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, ...args: unknown[]): unknown {
    workers.add(this);
    return Reflect.apply(post, this, args);
  });
  return workers;
}

test('a terminated writer thread is replaced (sqlite)', async (t) => {
  await using opened = await newSqliteDb();
  const { db } = opened;
  await db.transaction((tx) => tx.run(createTable));
  const workers = watchWorkers(t);
  assert.equal(await add(db, 1), 1);
  const [worker] = workers;
  assert.ok(worker);
  await worker.terminate();
  assert.equal(await add(db, 2), 1);
  assert.equal(db.writes.isHealthy, true);
  assert.deepEqual(
    (await db.all(list)).map(({ id }) => id),
    [1, 2],
  );
});

test('a writer thread that ends during a change leaves its outcome unknown, and the next change succeeds (sqlite)', async (t) => {
  await using opened = await newSqliteDb();
  const { db } = opened;
  await db.transaction((tx) => tx.run(createTable));
  const workers = watchWorkers(t);
  const broken = db.transaction(async (tx) => {
    await tx.run(insert, [1]);
    for (const worker of workers) await worker.terminate();
  });
  assert.equal(await broken.catch(codeOf), 'unavailable');
  assert.equal(db.writes.isHealthy, false);
  assert.equal(await add(db, 2), 1);
  assert.equal(db.writes.isHealthy, true);
  assert.deepEqual(
    (await db.all(list)).map(({ id }) => id),
    [2],
  );
});

test('readiness reports failing changes while another process locks the file, and their recovery (sqlite)', async () => {
  await using app = await newApp();
  const ready = async () => (await app.call('GET', '/health/ready')).json;
  assert.deepEqual(await ready(), { status: 'ok', writes: true });
  const user = await app.signIn();
  const other = await app.connect();
  await other.db.transaction(
    async () => {
      const json = { refreshToken: user.refreshToken };
      assert.equal((await app.call('POST', '/auth/token/revoke', { json })).status, 503);
      assert.deepEqual(await ready(), { status: 'ok', writes: false });
    },
    { isLong: true },
  );
  await until('changes succeed again', async () => ((await ready()) as { writes: boolean }).writes);
});
