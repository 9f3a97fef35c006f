/** Migrations on PostgreSQL beside running instances, while a backup has read the tables. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { limits } from '@keyreeve/contract';
import type { Db } from '../db.ts';
import { migrate } from '../migrate.ts';
import { waitReports, type MigrationWait } from '../migration-locks.ts';
import { sql } from '../sql.ts';
import { DomainError } from '../../errors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newLaterMigrations } from '../../../../test-kit/later-migration.ts';
import { besideBackup, readKeys } from '../../../../test-kit/beside-backup.ts';
import { databases, type TestDb } from '../../../../test-kit/new-db.ts';
import { until } from '../../../../test-kit/until.ts';

const clock = new FakeClock();
const later = newLaterMigrations();
const { folder, missing } = later;
after(() => later[Symbol.dispose]());

/** Its schema lacks the later migration. */
const newEarlierDb = (): Promise<TestDb> => databases['postgres']!();

/** The migration locks it after the keys. */
const readLaterTable = sql<{ count: number }>('test_read_later', 'select count(*) as count from audit_events');
const describeSchema = sql<{ line: string }>(
  'test_describe_schema',
  `select concat_ws(' ', 'column', table_name, column_name, data_type) as line from information_schema.columns
     where table_schema = current_schema()
   union all select indexdef from pg_indexes where schemaname = current_schema()
   union all select concat_ws(' ', 'migration', version, checksum) from schema_migrations order by line`,
);
/** Statements that wait for an exclusive lock of a table. Later reads of the table wait for them. */
const listWaiting = sql<{ query: string }>(
  'test_list_waiting',
  `select a.query from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where l.database = (select oid from pg_database where datname = current_database())
     and l.mode = 'AccessExclusiveLock' and not l.granted`,
);
/** What each transaction of a migration waits for: `advisory` waits for another migration, `PgSleep` pauses. */
const listMigrating = sql<{ event: string }>(
  'test_list_migrating',
  `select wait_event as event from pg_stat_activity
   where datname = current_database() and wait_event in ('advisory', 'PgSleep') order by wait_event`,
);

const read = (db: Db) => db.all(readKeys, [], { isShared: true });

test('verifications continue while a migration waits for a backup, and the migration completes after it', async () => {
  await using opened = await newEarlierDb();
  const { db, connect } = opened;
  const [instance, starting] = [await connect(), await connect()];
  assert.ok(limits.postgresMigrationLockMs < limits.postgresStatementMsMax);
  assert.ok(limits.postgresMigrationLockMs < limits.postgresMigrationPauseMs);
  let migrating: Promise<string[]> | undefined;
  await besideBackup(opened, async () => {
    migrating = migrate(starting, clock, { folder });
    migrating.catch(() => undefined);
    // Also during the repetition.
    for (let attempt = 1; attempt <= 2; attempt++) {
      await until('the migration waits', async () => (await db.all(listWaiting)).length > 0);
      assert.deepEqual(await read(instance), [{ count: 0 }]);
      await until('the migration pauses', async () => (await db.all(listWaiting)).length === 0);
      assert.deepEqual(await read(instance), [{ count: 0 }]);
    }
  });
  assert.deepEqual(await migrating, missing);
});

test('a migration that waits has done no work that it would repeat', async () => {
  await using opened = await newEarlierDb();
  const { db, connect } = opened;
  const starting = await connect();
  let migrating: Promise<string[]> | undefined;
  await besideBackup(opened, async () => {
    migrating = migrate(starting, clock, { folder });
    migrating.catch(() => undefined);
    let queries: string[] = [];
    await until('the migration waits', async () => {
      queries = (await db.all(listWaiting)).map(({ query }) => query);
      return queries.length > 0;
    });
    assert.match(queries.join('\n'), /^lock table accounts, api_keys, [a-z_, ]+ in access exclusive mode$/);
  });
  assert.deepEqual(await migrating, missing);
});

test('a migration that waits for several tables releases the first before a read of it fails', async () => {
  await using opened = await newEarlierDb();
  const { db, connect } = opened;
  const [instance, starting, backup] = [await connect(), await connect(), await connect()];
  let migrating: Promise<string[]> | undefined;
  await backup.snapshot(async (reader) => {
    await reader.all(readLaterTable);
    migrating = migrate(starting, clock, { folder });
    migrating.catch(() => undefined);
    await until('the migration waits', async () => (await db.all(listWaiting)).length > 0);
    assert.deepEqual(await read(instance), [{ count: 0 }]);
  });
  assert.deepEqual(await migrating, missing);
});

test('of several instances that start beside a backup, one pauses and the others wait for it', async () => {
  await using opened = await newEarlierDb();
  const { db, connect } = opened;
  const starting = [await connect(), await connect(), await connect()];
  let migrating: Promise<string[][]> | undefined;
  await besideBackup(opened, async () => {
    migrating = Promise.all(starting.map((one) => migrate(one, clock, { folder })));
    migrating.catch(() => undefined);
    await until('one pauses and two wait', async () => {
      const events = (await db.all(listMigrating)).map(({ event }) => event);
      return events.join() === 'PgSleep,advisory,advisory';
    });
  });
  const applied = (await migrating) ?? [];
  assert.deepEqual(
    applied.toSorted((a, b) => b.length - a.length),
    [missing, [], []],
  );
});

test('a migration that a backup outlasts fails with the cause and the remedy, and leaves the schema unchanged', async () => {
  await using opened = await newEarlierDb();
  const { db } = opened;
  const before = await db.all(describeSchema);
  await besideBackup(opened, async () => {
    await assert.rejects(migrate(db, clock, { folder, msMax: 0 }), (error) => {
      assert.ok(error instanceof DomainError);
      assert.deepEqual(
        [error.code, error.message],
        [
          'unavailable',
          'a backup, a vacuum or another long transaction uses the database, so the migration could not lock its tables; the schema is unchanged. ' +
            'Wait until the transaction has ended (pg_stat_activity lists it), and start this program again',
        ],
      );
      return true;
    });
    assert.deepEqual(await db.all(describeSchema), before);
    assert.deepEqual(await read(db), [{ count: 0 }]);
  });
  assert.deepEqual(await migrate(db, clock, { folder }), missing);
});

const detail =
  'the migration waits until it can lock its tables, because a backup, a vacuum or another long transaction uses the database ' +
  '(pg_stat_activity lists it); the time limit is 300 s';

test('a migration that repeats reports once what it waits for, and a migration that does not repeat reports nothing', async () => {
  await using opened = await newEarlierDb();
  const { db, connect } = opened;
  const starting = await connect();
  const waits: MigrationWait[] = [];
  const onWait = (wait: MigrationWait): void => void waits.push(wait);
  let migrating: Promise<string[]> | undefined;
  await besideBackup(opened, async () => {
    migrating = migrate(starting, clock, { folder, onWait });
    migrating.catch(() => undefined);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await until('the migration waits', async () => (await db.all(listWaiting)).length > 0);
      await until('the migration pauses', async () => (await db.all(listWaiting)).length === 0);
    }
  });
  assert.deepEqual(await migrating, missing);
  assert.deepEqual(
    waits.map(({ waitedSeconds, ...wait }) => ({ ...wait, hasWaited: waitedSeconds >= 1 })),
    [{ hasWaited: true, secondsMax: 300, detail }],
  );
  assert.deepEqual(await migrate(starting, clock, { folder, onWait }), []);
  assert.equal(waits.length, 1);
});

test('a migration that repeats for minutes reports it at most once each minute', () => {
  const waits: MigrationWait[] = [];
  const report = waitReports(300_000, (wait) => waits.push(wait));
  for (let waitedMs = 1_200; waitedMs < 300_000; waitedMs += 4_200) report(waitedMs);
  assert.deepEqual(
    waits.map(({ waitedSeconds }) => waitedSeconds),
    [1, 64, 127, 190, 253],
  );
});
