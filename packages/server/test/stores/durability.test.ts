/** Settings of a PostgreSQL server under which an acknowledged deletion could be lost are noticed, or overruled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrl } from '../../src/config-values.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Db } from '../../src/db/db.ts';
import { durabilityOf } from '../../src/db/durability.ts';
import { sql } from '../../src/db/sql.ts';
import { PostgresServer } from '../../src/testing/postgres-server.ts';

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
