/** Moving an embedded installation to PostgreSQL: completely or not at all. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { BackupError } from '../format.ts';
import { moveInstallation, planMove } from '../move.ts';
import { countRows, tablesIn } from '../store.ts';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import type { SqliteLocation } from '../../../foundation/database/database.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { migrate } from '../../../foundation/database/migrate.ts';
import { usagePathOf } from '../../../foundation/database/usage-file.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { FileInUseError, retireFile } from '../../../foundation/database/retire-sqlite-file.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases, emptyDatabases, type TestDb } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, addSession, addSigningKey, keys, now, operator } from '../../../../test-kit/rows.ts';
import { contentsOf, fill } from './whole-installation.ts';

const clock = new FakeClock(now + 60_000);
const move = (source: Db, target: Db) => moveInstallation(operator, source, target, { keys, clock });

const rowsOf = async (db: Db) => ({
  ...(await countRows(db, tablesIn(db.dialect, 'main'))),
  ...(await countRows(db.usage, tablesIn(db.dialect, 'usage'))),
});

async function newSource(): Promise<TestDb> {
  const source = await databases['sqlite']!();
  await fill(source.db);
  return source;
}

test('every row of every table is moved unchanged, and one event is added', async () => {
  await using source = await newSource();
  await using target = await databases['postgres']!();
  const before = await contentsOf(source.db);
  const { rows, wasDone } = await move(source.db, target.db);
  assert.equal(wasDone, false);
  assert.deepEqual(rows, await rowsOf(source.db));
  for (const count of Object.values(rows)) assert.ok(count > 0);
  assert.deepEqual(await contentsOf(source.db), before);
  const after = await contentsOf(target.db);
  const moved = (await listAuditEvents(target.db)).at(-1);
  assert.deepEqual([moved?.action, moved?.actor, moved?.at], ['installation.moved', 'operator', clock.now()]);
  const trail = after['audit_events']?.filter((text) => !text.includes('installation.moved'));
  // The event is in the chain of events without an account.
  const chains = before['audit_chains']?.map((text) => text.replace('"chain":0,"events":1', '"chain":0,"events":2'));
  assert.deepEqual({ ...after, audit_events: trail }, { ...before, audit_chains: chains });
  // New rows get ids above the moved ones.
  const id = await addAccount(target.db, 'new');
  await addKey(target.db, id, 'first');
  await addSession(target.db, id, 'first');
  await addSigningKey(target.db, 'first');
});

test('tables with more rows than one page are moved completely', async () => {
  await using source = await newSource();
  await using target = await databases['postgres']!();
  for (let id = 0; id < 900; id++) await addKey(source.db, 'acc_ada', `k${id}`, { id: 10_000 + id });
  assert.equal((await move(source.db, target.db)).rows['api_keys'], 902);
  assert.deepEqual((await contentsOf(target.db))['api_keys'], (await contentsOf(source.db))['api_keys']);
});

test('a completed move is recognised, and a move to a database with other rows is rejected', async () => {
  await using source = await newSource();
  await using target = await databases['postgres']!();
  await move(source.db, target.db);
  await addAccount(target.db, 'later');
  const before = await contentsOf(target.db);
  assert.deepEqual(await move(source.db, target.db), { rows: {}, wasDone: true, hasUsage: true });
  // The source was used after the move, so its new rows would be lost.
  await addAccount(source.db, 'elsewhere');
  await assert.rejects(
    move(source.db, target.db),
    (error) => error instanceof BackupError && /not empty/.test(error.message),
  );
  assert.deepEqual(await contentsOf(target.db), before);
});

test('a move that fails halfway leaves the target empty, and can be repeated', async () => {
  await using source = await newSource();
  await using target = await databases['postgres']!();
  for (const table of ['accounts', 'audit_events', 'rate_limit_buckets']) {
    const failing = {
      dialect: source.db.dialect,
      get: source.db.get.bind(source.db),
      all: <Row>(...[statement, values]: Parameters<typeof source.db.all<Row>>) => {
        if (statement.name === `page_${table}`) throw new Error('the disk is gone');
        return source.db.all(statement, values);
      },
    };
    await assert.rejects(moveInstallation(operator, failing, target.db, { keys, clock }), /the disk is gone/);
    const counts = await rowsOf(target.db);
    assert.deepEqual(
      Object.entries(counts).filter(([, count]) => count > 0),
      [],
    );
  }
  assert.equal((await move(source.db, target.db)).wasDone, false);
});

test('a dry run reports the rows that would be moved or the reason why not, and writes nothing', async () => {
  await using source = await newSource();
  await using target = await emptyDatabases['postgres']!();
  const counts = await rowsOf(source.db);
  assert.deepEqual(await planMove(source.db, target.db, keys.check), counts);
  // No table was created.
  assert.equal((await migrate(target.db, clock)).length > 0, true);
  assert.deepEqual(await planMove(source.db, target.db, keys.check), counts);
  const others = deriveKeys(Buffer.alloc(32, 8)).check;
  await assert.rejects(planMove(source.db, target.db, others), /belongs to another installation/);
  await claimInstallation(target.db, others, now);
  await assert.rejects(planMove(source.db, target.db, keys.check), /belongs to another installation/);
  await using full = await databases['postgres']!();
  await fill(full.db);
  await assert.rejects(planMove(source.db, full.db, keys.check), /not empty/);
});

test('a database file that another process has open is not retired, and a retired one is not found under its name', async () => {
  await using source = await newSource();
  const { path } = databaseUrl(source.url) as SqliteLocation;
  const newPath = `${path}.moved`;
  await assert.rejects(
    retireFile(path, newPath, () => Promise.reject(new Error('it must not come to this'))),
    FileInUseError,
  );
  const before = await contentsOf(source.db);
  await source.db.close();
  await assert.rejects(
    retireFile(path, newPath, () => Promise.reject(new Error('changed my mind'))),
    /changed my mind/,
  );
  const again = await source.connect();
  assert.deepEqual(await contentsOf(again), before);
  await again.close();
  const count = await retireFile(path, newPath, async (reader) => {
    await assert.rejects(
      source
        .connect()
        .then((db) => db.transaction((tx) => tx.run(sql('test_delete_accounts', 'delete from accounts')))),
    );
    assert.ok(reader.usage);
    const [main, usage] = [await countRows(reader, tablesIn('sqlite', 'main')), tablesIn('sqlite', 'usage')];
    return [main['accounts'], await countRows(reader.usage, usage)];
  });
  assert.deepEqual(count, [2, { key_usage: 1, key_last_uses: 2 }]);
  for (const pathOf of [(database: string) => database, usagePathOf])
    assert.deepEqual([existsSync(pathOf(path)), existsSync(pathOf(newPath))], [false, true]);
  assert.deepEqual(
    readdirSync(path.slice(0, path.lastIndexOf('/'))).filter(
      (name) => name.includes('-wal') || name.includes('journal'),
    ),
    [],
  );
});

test('without the usage file, everything else is moved, and days without a use of keys count anew', async () => {
  await using other = await newSource();
  await other.db.close();
  for (const spoil of [
    (usage: string) => rmSync(usage),
    (usage: string) => writeFileSync(usage, Buffer.alloc(10_000, 'garbage')),
    (usage: string) => copyFileSync(usagePathOf((databaseUrl(other.url) as SqliteLocation).path), usage),
  ]) {
    await using source = await newSource();
    await using target = await databases['postgres']!();
    const { path } = databaseUrl(source.url) as SqliteLocation;
    await source.db.close();
    spoil(usagePathOf(path));
    const { rows, hasUsage } = await retireFile(path, `${path}.moved`, (reader) =>
      moveInstallation(operator, reader, target.db, { keys, clock }),
    );
    assert.deepEqual([hasUsage, rows['api_keys'], rows['key_usage'], rows['key_last_uses']], [false, 2, 0, 0]);
    const [installation = ''] = (await contentsOf(target.db))['installation'] ?? [];
    assert.match(installation, new RegExp(`"unused_keys_counted_from":${clock.now()}`));
  }
});

test('rows of a usage file with damaged pages are moved as far as they can be read', async () => {
  await using source = await newSource();
  await using target = await databases['postgres']!();
  const { path } = databaseUrl(source.url) as SqliteLocation;
  await source.db.close();
  const bytes = readFileSync(usagePathOf(path));
  // The header, the schema and the row of the pair stay.
  bytes.fill(0xff, 4_096 * 4);
  writeFileSync(usagePathOf(path), bytes);
  const db = await source.connect();
  const planned = await planMove(db, target.db, keys.check);
  assert.deepEqual([planned['api_keys'], planned['key_usage']], [2, undefined]);
  await db.close();
  const { rows, hasUsage } = await retireFile(path, `${path}.moved`, (reader) => {
    assert.ok(reader.usage);
    return moveInstallation(operator, reader, target.db, { keys, clock });
  });
  assert.deepEqual([hasUsage, rows['api_keys']], [false, 2]);
  const [installation = ''] = (await contentsOf(target.db))['installation'] ?? [];
  assert.match(installation, new RegExp(`"unused_keys_counted_from":${clock.now()}`));
});
