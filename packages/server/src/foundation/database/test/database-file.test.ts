/** Replacement and removal of the files of an open embedded database. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { DatabaseReplacedError } from '../file-identity.ts';
import { sql, sqlMany } from '../sql.ts';
import { SqliteDb } from '../sqlite.ts';
import { databases, testKeys } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { backUp, restore } from '../../../modules/backup/test/backup-kit.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { fill } from '../../../modules/backup/test/whole-installation.ts';

const createTable = sql('test_create', 'create table if not exists things (id integer primary key)');
const insert = sql('test_insert', 'insert into things (id) values ($1)');
const list = sql<{ id: number }>('test_list', 'select id from things order by id');

const getThing = sqlMany<{ id: number }>('test_get', { sqlite: 'select id from things where id = $1', postgres: '' });

function checkpoint(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}

/** A database with one row. It is closed with the test, also after a failure, because its thread keeps the process alive. */
async function newDatabase(t: TestContext, path: string): Promise<SqliteDb> {
  const db = await SqliteDb.open(path, testKeys.auditChain);
  t.after(() => db.close().catch(() => undefined));
  await db.transaction((tx) => tx.run(createTable));
  await db.transaction((tx) => tx.run(insert, [1]));
  return db;
}

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

const changes: Readonly<Record<string, (path: string) => string>> = {
  'a copy that is renamed over the database': (path) => (replaceByCopy(path), path),
  'a database that is removed': (path) => (rmSync(path), path),
  'a database that is moved with its folder': (path) => (renameSync(join(path, '..'), join(path, '../../moved')), path),
  'a -wal that is removed': (path) => (rmSync(`${path}-wal`), `${path}-wal`),
  'a -shm that is replaced': (path) => (replaceByCopy(`${path}-shm`), `${path}-shm`),
};

test('a read sees each commit that was acknowledged before, also when another connection has emptied the -wal', async (t) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'checkpoints.db');
  const db = await SqliteDb.open(path, testKeys.auditChain);
  t.after(() => db.close().catch(() => undefined));
  await db.transaction((tx) => tx.run(createTable));
  for (let id = 1; id <= 20; id++) {
    await db.transaction((tx) => tx.run(insert, [id]));
    assert.equal((await db.getMany(getThing, [[id]]))[0]?.id, id);
    // The next read finds the page in the file and not in the -wal.
    if (id % 5 === 0) checkpoint(path);
    assert.equal((await db.all(list)).length, id);
  }
});

for (const [name, change] of Object.entries(changes)) {
  test(`${name} ends every read and write`, async (t) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'data', 'keyreeve.db');
    const db = await newDatabase(t, path);
    const changed = change(path);
    assert.equal(await db.transaction((tx) => tx.run(insert, [2])).catch(codeOf), 'unavailable');
    assert.equal(await db.all(list).catch(codeOf), 'unavailable');
    assert.equal(await db.get(list).catch(codeOf), 'unavailable');
    assert.equal(await db.getMany(getThing, [[1]]).catch(codeOf), 'unavailable');
    assert.equal(await db.snapshot((reader) => reader.all(list)).catch(codeOf), 'unavailable');
    const error = await db.file.replaced;
    assert.ok(error instanceof DatabaseReplacedError);
    assert.deepEqual([error.path, error.status], [changed, 1]);
  });
}

test('a change that was committed to a replaced file is not acknowledged', async (t) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'data', 'keyreeve.db');
  const db = await newDatabase(t, path);
  const written = db.transaction(async (tx) => {
    await tx.run(insert, [2]);
    replaceByCopy(path);
  });
  assert.equal(await written.catch(codeOf), 'unavailable');
  await db.close();
});

test('a file that is moved back does not end the failure', async (t) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'data', 'keyreeve.db');
  const db = await newDatabase(t, path);
  renameSync(path, `${path}.away`);
  assert.throws(() => db.file.compare(), DatabaseReplacedError);
  renameSync(`${path}.away`, path);
  assert.equal(await db.all(list).catch(codeOf), 'unavailable');
  await db.close();
});

test('a process with other files open is rejected', async (t) => {
  using temp = newTempFolder();
  const db = await newDatabase(t, join(temp.path, 'data', 'keyreeve.db'));
  const other = await newDatabase(t, join(temp.path, 'other', 'keyreeve.db'));
  db.file.compare(db.file.identity);
  assert.throws(() => db.file.compare(other.file.identity), DatabaseReplacedError);
  await Promise.all([db.close(), other.close()]);
});

test('closing a replaced database keeps the -wal of the new one', async (t) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'data', 'keyreeve.db');
  const db = await newDatabase(t, path);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`);
  const next = await newDatabase(t, path);
  await db.close();
  assert.ok(existsSync(`${path}-wal`));
  const another = new DatabaseSync(path);
  assert.equal(another.prepare('select count(*) as count from things').get()?.['count'], 1);
  another.close();
  next.file.compare();
  await next.close();
});

test('checkpoints, VACUUM, other connections, a backup and a restore leave the files in place', async () => {
  using temp = newTempFolder();
  await using opened = await databases['sqlite']!();
  const { db } = opened;
  const path = opened.url.slice('sqlite:'.length);
  assert.deepEqual(
    db.file?.identity.map((identity) => typeof identity),
    ['string', 'string', 'string'],
  );
  await fill(db);
  const other = new DatabaseSync(path);
  other.exec('pragma wal_checkpoint(truncate); vacuum; pragma wal_checkpoint(restart)');
  other.close();
  await backUp(db, join(temp.path, 'backup'));
  const beside = await opened.connect();
  await restore(beside, join(temp.path, 'backup'), { mayReplace: true, acceptsRevival: true });
  await beside.close();
  db.file.compare();
  await db.transaction((tx) => tx.run(createTable));
  assert.deepEqual(await db.all(list), []);
});
