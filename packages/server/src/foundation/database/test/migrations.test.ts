/** Migrations: immutable, forward only, safe at concurrent starts, and compatible with programs of both versions. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Db } from '../db.ts';
import { countMissingMigrations, migrate, SchemaError } from '../migrate.ts';
import { sql } from '../sql.ts';
import { SqliteDb } from '../sqlite.ts';
import { WriterThread } from '../sqlite-writer-thread.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { testKeys } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { until } from '../../../../test-kit/until.ts';
import { codeOf, onEachDatabase, onEachEmptyDatabase } from '../../../../test-kit/store-on-each-database.ts';
import pinned from './migration-checksums.json' with { type: 'json' };

const folder = new URL('../migrations/', import.meta.url);
const files = readdirSync(folder).toSorted();
const textOf = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
/** One file per version. The others replace it on one database. */
const shared = files.filter((file) => file.split('.').length === 2);
const names = shared.map((file) => file.slice(0, -'.sql'.length));
const newest = names.length;
const clock = new FakeClock();

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly appliedAt: number;
}
const listApplied = sql<Applied>(
  'test_applied',
  'select version, name, checksum, applied_at as "appliedAt" from schema_migrations order by version',
);
const insertApplied = sql(
  'test_insert_applied',
  `insert into schema_migrations (version, name, checksum, compatible_from, applied_at) values ($1, $2, 'x', $3, 0)`,
);
const damage = sql('test_damage', `update schema_migrations set checksum = 'x' where version = $1`);
const countAccounts = sql<{ count: number }>('test_accounts', 'select count(*) as count from accounts');

const applied = async (db: Db): Promise<Applied[]> => (await db.all(listApplied)).map((row) => ({ ...row }));

test('no released migration has changed (migration-checksums.json)', () => {
  const all = ['migrations', 'usage-migrations'].flatMap((name) =>
    readdirSync(new URL(`../${name}/`, import.meta.url)).map((file) => `${name}/${file}`),
  );
  const found = Object.fromEntries(
    all.map((file) => [
      file,
      createHash('sha256')
        .update(textOf(`../${file}`))
        .digest('hex'),
    ]),
  );
  const rule = 'never change a migration that was released, write the next one; its checksum: npm run baseline';
  assert.deepEqual(found, pinned, rule);
});

test('migrations are numbered without a gap and state the compatible schema version', () => {
  for (const [index, file] of shared.entries()) {
    assert.match(file, new RegExp(`^${String(index + 1).padStart(4, '0')}(?:_[a-z0-9_]+)?\\.sql$`));
  }
  for (const file of files) {
    const compatibleFrom = Number(/^-- compatible-from: (\d+)\n/.exec(textOf(file))?.[1]);
    assert.ok(compatibleFrom >= 1 && compatibleFrom <= Number(file.slice(0, 4)), file);
    assert.ok(shared.includes(file.replace(/\.(?:sqlite|postgres)\.sql$/, '.sql')), file);
  }
});

onEachEmptyDatabase('an empty database gets every migration once, recorded with its checksum', async ({ db }) => {
  assert.equal(await countMissingMigrations(db), newest);
  assert.deepEqual(await migrate(db, clock), names);
  const expected = names.map((name, index) => {
    const override = `${name}.${db.dialect}.sql`;
    const text = textOf(files.includes(override) ? override : `${name}.sql`);
    const checksum = createHash('sha256').update(text).digest('hex');
    return { version: index + 1, name, checksum, appliedAt: clock.now() };
  });
  assert.deepEqual(await applied(db), expected);
  clock.advance({ seconds: 1 });
  assert.deepEqual(await migrate(db, clock), []);
  assert.deepEqual(await applied(db), expected);
  assert.equal(await countMissingMigrations(db), 0);
});

onEachEmptyDatabase('processes that start at the same time apply each migration once', async ({ db, connect }) => {
  const connections = [db, await connect(), await connect(), await connect()];
  const results = await Promise.all(connections.map((connection) => migrate(connection, clock)));
  assert.deepEqual(
    results.toSorted((a, b) => b.length - a.length),
    [names, [], [], []],
  );
  assert.equal((await applied(db)).length, newest);
});

// SQLite may fail immediately with "locked" while a new file gets its journal mode.
test('processes that create the same file at the same time can all open it', async () => {
  for (let round = 0; round < 5; round++) {
    using home = newTempFolder();
    const path = join(home.path, 'deep', 'keyreeve.db');
    const opened = await Promise.allSettled(Array.from({ length: 4 }, () => SqliteDb.open(path, testKeys.auditChain)));
    const connections = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    try {
      for (const result of opened) if (result.status === 'rejected') throw result.reason;
    } finally {
      await Promise.all(connections.map((connection) => connection.close()));
    }
  }
});

const shortenWait = sql<object>('test_busy_timeout', 'pragma busy_timeout = 1');

test('the writer waits for another process’s migration, also longer than other changes wait', async (t) => {
  using home = newTempFolder();
  const path = join(home.path, 'keyreeve.db');
  const db = await SqliteDb.open(path, testKeys.auditChain);
  t.after(() => db.close());
  await db.transaction((tx) => tx.get(shortenWait));
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  assert.equal(await db.transaction((tx) => tx.get(shortenWait)).catch(codeOf), 'unavailable');
  const perform = t.mock.method(WriterThread.prototype, 'issue');
  let hasEnded = false;
  const migrating = migrate(db, clock).finally(() => (hasEnded = true));
  migrating.catch(() => undefined);
  const begins = (): number => perform.mock.calls.filter(({ arguments: [[kind]] }) => kind === 'begin').length;
  await until('two attempts have failed', () => hasEnded || begins() > 2);
  assert.equal(hasEnded, false);
  other.exec('commit');
  other.close();
  assert.deepEqual(await migrating, names);
});

onEachEmptyDatabase('a failed migration leaves the schema unchanged', async ({ db }) => {
  await db.transaction((tx) => tx.run(sql('test_in_the_way', 'create table api_keys (id integer)')));
  await assert.rejects(migrate(db, clock), (error) => codeOf(error) === 'unavailable');
  await assert.rejects(db.all(listApplied), 'the ledger does not exist');
  await assert.rejects(db.all(countAccounts), 'earlier tables do not exist');
  await db.transaction((tx) => tx.run(sql('test_out_of_the_way', 'drop table api_keys')));
  assert.deepEqual(await migrate(db, clock), names);
});

onEachDatabase('a database with a changed migration is rejected', async ({ db }) => {
  await db.transaction((tx) => tx.run(damage, [1]));
  const isSchemaError = (error: unknown): boolean =>
    error instanceof SchemaError &&
    error.message === `migration ${names[0]} differs from the one that was applied to this database`;
  await assert.rejects(migrate(db, clock), isSchemaError);
  await assert.rejects(countMissingMigrations(db), isSchemaError);
});

// The first line of the ledger of test/data/before-1.0.0; made-before.test.ts opens the file itself.
onEachDatabase('a database with the schema of an unreleased version is rejected', async ({ db }) => {
  const rename = sql(
    'test_rename_migration',
    `update schema_migrations set name = '0001_foundation' where version = 1`,
  );
  await db.transaction((tx) => tx.run(rename));
  const isSchemaError = (error: unknown): boolean =>
    error instanceof SchemaError &&
    error.message ===
      'the database was made before 1.0.0, the first release, and no release can read it; create a new installation';
  await assert.rejects(migrate(db, clock), isSchemaError);
  await assert.rejects(countMissingMigrations(db), isSchemaError);
});

onEachDatabase('a program works on a newer schema that is compatible', async ({ db }) => {
  await db.transaction((tx) => tx.run(insertApplied, [newest + 1, 'from_the_future', newest]));
  assert.deepEqual(await migrate(db, clock), []);
  assert.equal(await countMissingMigrations(db), 0);
  assert.equal((await applied(db)).length, newest + 1);
});

onEachDatabase('an incompatible schema is rejected with a text that states what to do', async ({ db }) => {
  await db.transaction(async (tx) => {
    await tx.run(insertApplied, [newest + 1, 'harmless', newest]);
    await tx.run(insertApplied, [newest + 2, 'breaking', newest + 2]);
  });
  const isSchemaError = (error: unknown): boolean =>
    error instanceof SchemaError &&
    error.message ===
      `the database has schema ${newest + 2}, which needs a newer program: this one supports up to ${newest}. Install the version that created it.`;
  await assert.rejects(migrate(db, clock), isSchemaError);
  await assert.rejects(countMissingMigrations(db), isSchemaError);
});
