/** Operations during the planned end of a PostgreSQL server, and during a crash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { testKeys } from '../../../../test-kit/new-db.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { databaseWaits, programMsMax } from '../../../../test-kit/time-limits.ts';
import { until } from '../../../../test-kit/until.ts';
import { openDatabase } from '../database.ts';
import type { Db } from '../db.ts';
import type { PostgresLocation } from '../postgres-url.ts';
import { sql } from '../sql.ts';

const blocked = sql<{ one: number }>('test_blocked', 'select 1 as one from held');
const insert = sql('test_insert', 'insert into inserted values (1)');
const inserted = sql<{ one: number }>('test_inserted', 'select one from inserted');

interface Begun {
  readonly reads: Promise<readonly unknown[]>;
  readonly change: Promise<unknown>;
}

/** Begins two reads and a change, each of which waits for a lock that ends with the server. */
async function begin(server: PostgresServer, db: Db): Promise<Begun> {
  const databases = new PostgresDatabases(server.url());
  await databases.run('create table if not exists held (one integer)');
  await databases.run('create table if not exists inserted (one integer)');
  void databases.run('begin; lock table held in access exclusive mode; select pg_sleep(600)').catch(() => undefined);
  await until('the table is locked', async () => {
    const locks = `select from pg_locks where relation = 'held'::regclass and mode = 'AccessExclusiveLock' and granted`;
    return (await databases.all(locks)).length === 1;
  });
  const reads = Promise.all([db.all(blocked), db.all(blocked, [], { isShared: true })]);
  const change = db.transaction(async (tx) => {
    await tx.run(insert);
    await tx.all(blocked);
  });
  for (const one of [reads, change]) one.catch(() => undefined);
  await until('all operations wait', async () => {
    const waiting = `select from pg_locks where relation = 'held'::regclass and not granted`;
    return (await databases.all(waiting)).length === 3;
  });
  return { reads, change };
}

test('reads and changes succeed after a restart of PostgreSQL, and fail at once after a crash', async () => {
  await using server = await PostgresServer.start({ durable: true });
  const location = databaseUrl(server.url()) as PostgresLocation;
  const waits = { ...databaseWaits, handoverMsMax: programMsMax };
  const db = await openDatabase({ ...location, waits }, testKeys.auditChain);
  try {
    const beforeRestart = await begin(server, db);
    await server.restart();
    assert.deepEqual(await beforeRestart.reads, [[], []]);
    await beforeRestart.change;
    assert.deepEqual(await db.all(inserted), [{ one: 1 }]);
    assert.equal(db.times.failedReads, 0);
  } finally {
    await db.close();
  }

  const other = await openDatabase({ ...location, waits }, testKeys.auditChain);
  try {
    const beforeCrash = await begin(server, other);
    await server.crash();
    await assert.rejects(beforeCrash.reads, { code: 'unavailable' });
    await assert.rejects(beforeCrash.change, { code: 'unavailable' });
    await server.startAgain();
    assert.deepEqual(await other.all(inserted), [{ one: 1 }]);
  } finally {
    await other.close();
  }
});
