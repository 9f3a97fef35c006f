/** Settings of a PostgreSQL server under which an acknowledged deletion could be lost are noticed, or overruled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrl } from '../../src/config-values.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Db } from '../../src/db/db.ts';
import { durabilityOf } from '../../src/db/durability.ts';
import { sql } from '../../src/db/sql.ts';
import { PostgresServer } from '../../src/testing/postgres-server.ts';
import { codeOf } from './on-each-database.ts';

async function on(settings: Readonly<Record<string, string>>, prove: (db: Db) => Promise<void>): Promise<void> {
  await using server = await PostgresServer.start({ durable: true, settings });
  const db = await openDatabase(databaseUrl(server.url()));
  try {
    await prove(db);
  } finally {
    await db.close();
  }
}

const commitsWait = sql<{ setting: string }>('test_commits', `select current_setting('synchronous_commit') as setting`);

test('a server that acknowledges what it has not flushed is overruled for our commits', async () => {
  await on({ synchronous_commit: 'off' }, async (db) => {
    assert.equal((await db.get(commitsWait))?.setting, 'on');
    assert.equal(await db.transaction(async (tx) => (await tx.get(commitsWait))?.setting), 'on');
    assert.deepEqual((await durabilityOf(db)).warnings, []);
  });
});

test('a server that promises more than that is not held back', async () => {
  await on({ synchronous_commit: 'remote_apply' }, async (db) =>
    assert.equal((await db.get(commitsWait))?.setting, 'remote_apply'),
  );
});

test('a server that never flushes is warned of', async () => {
  await on({ fsync: 'off' }, async (db) => {
    const { version, warnings } = await durabilityOf(db);
    assert.match(version, /^\d+\.\d+/);
    assert.deepEqual(warnings, [
      'fsync or full_page_writes is off on the PostgreSQL server: a crash of its machine may revive deleted keys',
    ]);
  });
});

const createTable = sql('test_create', 'create table things (id integer primary key)');
const insert = sql('test_insert', 'insert into things (id) values ($1)');
const waiting = sql<{ count: number }>(
  'test_waiting',
  `select count(*) as count from pg_stat_activity where wait_event = 'SyncRep'`,
);

test('commits that wait for a standby that is lost are unknown, and keep no connection', async () => {
  await on({}, async (db) => {
    await db.transaction((tx) => tx.run(createTable));
    await db.all(sql('test_standby', `alter system set synchronous_standby_names = 'nobody'`));
    await db.all(sql('test_reload', 'select pg_reload_conf()'));
    const writes = Array.from({ length: 16 }, (_, id) => db.transaction((tx) => tx.run(insert, [id])));
    for (const result of await Promise.allSettled(writes)) {
      assert.ok(result.status === 'rejected');
      assert.equal(codeOf(result.reason), 'unavailable');
    }
    assert.ok(writes.length > 0);
    for (let attempt = 0; (await db.get(waiting))?.count !== 0; attempt++) assert.ok(attempt < 200, 'backends wait on');
  });
});
