/** The second file of an SQLite database: whatever happens to it, counts are lost at most, and no key is lost or disabled. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { dayMs, hourMs } from '../../../foundation/clock.ts';
import { compactDatabase } from '../../../foundation/database/compact-sqlite-file.ts';
import { openDatabase, type SqliteLocation } from '../../../foundation/database/database.ts';
import type { Db, UsageFileRenewal } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { SqliteDb } from '../../../foundation/database/sqlite.ts';
import { findUsagePair, forgetUsageFileTx, UsageFile, usagePathOf } from '../../../foundation/database/usage-file.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { databases, type TestDb } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, keys, now } from '../../../../test-kit/rows.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { newKeyChanges } from '../../../../test-kit/new-key-changes.ts';
import { useKeys } from '../../../../test-kit/uses.ts';
import { KeyUsage } from '../key-usage.ts';
import { findUses, readUses } from '../../api-keys/use-store.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import { UnusedKeys } from '../../api-keys/unused-keys.ts';
import { findOwnedKeys } from '../../api-keys/owned-keys.ts';
import { backUp, restore } from '../../backup/test/backup-kit.ts';

const unusedDaysMax = 30;
/** When a key that was not used since {@link now} counts as unused. */
const later = now + unusedDaysMax * dayMs + hourMs + 1;
const used = 1;
const unused = 2;

const check = (db: Db, at: number): Promise<void> =>
  new UnusedKeys({ db, clock: new FakeClock(at), unusedDaysMax, revocations: undefined }).disable();

const stateOf = async (db: Db) => {
  const uses = await findUses(db, [used, unused]);
  const disabled = (await listAccountKeys(db, 'acc_ada')).filter(({ disabledAt }) => disabledAt !== null);
  return { uses: [...uses.values()].map(({ lastUsedAt }) => lastUsedAt), disabled: disabled.map(({ id }) => id) };
};

/** A minute passes, as `Minutes` records it. */
const recordCommits = (db: Db): Promise<void> => db.transaction(async (tx) => db.usageFile?.recordCommitsTx(tx));

interface Fixture extends TestDb {
  readonly path: string;
  /** Closes the database, as at the end of the service, and opens it again. */
  readonly reopen: (change?: () => void) => Promise<Db>;
  readonly renewals: UsageFileRenewal[];
}

/** Key 1 was used, and an hourly check has run. */
async function fixture(): Promise<Fixture> {
  const opened = await databases['sqlite']!();
  let { db } = opened;
  const renewals: UsageFileRenewal[] = [];
  const watch = (): void => {
    if (db.usageFile) db.usageFile.onRenewed = (reason) => void renewals.push(reason);
  };
  watch();
  await claimInstallation(db, keys.check, now);
  await addAccount(db, 'ada');
  for (const id of [used, unused]) await addKey(db, 'acc_ada', `key ${id}`, { id });
  await useKeys(db, [{ id: used, at: now + dayMs }]);
  await check(db, now + 1);
  const { path } = databaseUrl(opened.url) as SqliteLocation;
  const reopen = async (change?: () => void): Promise<Db> => {
    await db.close();
    change?.();
    db = await opened.connect();
    watch();
    return db;
  };
  return { ...opened, path: usagePathOf(path), reopen, renewals };
}

const remove = (path: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
};

/** A check every 12 hours, as while the service runs. */
async function checkUntil(db: Db, from: number, until: number): Promise<void> {
  for (let at = from; at <= until; at += 12 * hourMs) await check(db, at);
}

test('the file is kept over restarts, with the mode of the database, and unused keys are disabled', async () => {
  await using at = await fixture();
  const db = await at.reopen();
  await checkUntil(db, now + dayMs, later + 12 * hourMs);
  assert.deepEqual(await stateOf(db), { uses: [now + dayMs], disabled: [unused] });
  assert.deepEqual(at.renewals, []);
  assert.equal(statSync(at.path).mode & 0o777, 0o600);
});

const garbage = (path: string): void => writeFileSync(path, Buffer.alloc(100_000, 'garbage'));

const badFiles: Readonly<Record<string, { spoil: (path: string) => void; reason: UsageFileRenewal }>> = {
  'a lost file': { spoil: remove, reason: 'missing' },
  'an empty file': { spoil: (path) => (remove(path), writeFileSync(path, '')), reason: 'missing' },
  'a file that is no database': { spoil: (path) => (remove(path), garbage(path)), reason: 'unusable' },
  'the first bytes of a file': {
    spoil: (path) => {
      const bytes = readFileSync(path).subarray(0, 4_196);
      remove(path);
      writeFileSync(path, bytes);
    },
    reason: 'unusable',
  },
  'the file of the keys in its place': {
    spoil: (path) => (remove(path), copyFileSync(path.replace(/\.usage$/, ''), path)),
    reason: 'unusable',
  },
};

for (const [name, { spoil, reason }] of Object.entries(badFiles))
  test(`${name} loses counts, and days without a use count anew`, async () => {
    await using at = await fixture();
    const db = await at.reopen(() => spoil(at.path));
    assert.deepEqual(await stateOf(db), { uses: [], disabled: [] });
    assert.deepEqual(at.renewals, [reason]);
    assert.equal(existsSync(`${at.path}.unusable`), reason === 'unusable');
    await checkUntil(db, now + 2 * dayMs, now + 31 * dayMs);
    assert.deepEqual(await stateOf(db), { uses: [], disabled: [] });
    await useKeys(db, [{ id: used, at: later }]);
    await checkUntil(db, now + 31 * dayMs, now + 34 * dayMs);
    assert.deepEqual(await stateOf(db), { uses: [later], disabled: [unused] });
    assert.deepEqual(at.renewals, [reason], 'once');
  });

test('the file of another installation loses its rows', async () => {
  await using at = await fixture();
  await using other = await fixture();
  await other.reopen(() => copyFileSync(other.path, `${at.path}.other`));
  const db = await at.reopen(() => (remove(at.path), renameSync(`${at.path}.other`, at.path)));
  assert.deepEqual(await stateOf(db), { uses: [], disabled: [] });
  assert.deepEqual(at.renewals, ['foreign']);
  await check(db, later);
  assert.deepEqual((await stateOf(db)).disabled, []);
});

test('a database that is opened through a link has the same file', async () => {
  await using at = await fixture();
  const link = `${at.path}.link`;
  symlinkSync(at.path.replace(/\.usage$/, ''), link);
  const linked = await openDatabase({ kind: 'sqlite', path: link }, keys.auditChain);
  await useKeys(linked, [{ id: unused, at: now + dayMs }]);
  await linked.close();
  assert.deepEqual((await stateOf(await at.reopen())).uses, [now + dayMs, now + dayMs]);
  assert.deepEqual(at.renewals, []);
});

test('an older copy keeps its rows, and days without a use count anew', async () => {
  await using at = await fixture();
  const copy = `${at.path}.copy`;
  let db = await at.reopen(() => copyFileSync(at.path, copy));
  await checkUntil(db, now + dayMs, later - dayMs);
  await useKeys(db, [{ id: unused, at: later - dayMs }]);
  await recordCommits(db);
  db = await at.reopen(() => (remove(at.path), copyFileSync(copy, at.path)));
  assert.deepEqual(await stateOf(db), { uses: [now + dayMs], disabled: [] });
  assert.deepEqual(at.renewals, ['older']);
  await check(db, later);
  assert.deepEqual((await stateOf(db)).disabled, [], 'its last use is in the lost file');
  db = await at.reopen();
  await readUses(db.usage, [used]);
  assert.deepEqual(at.renewals, ['older'], 'the copy is the file of the database');
});

test('the number of commits is recorded again after a transaction that was rolled back', async () => {
  await using at = await fixture();
  const { db } = at;
  const rolledBack = db.transaction(async (tx) => {
    db.usageFile?.recordCommitsTx(tx);
    throw new Error('rolled back');
  });
  await assert.rejects(rolledBack, /rolled back/);
  const commits = async (file: 'file' | 'main') => {
    const reader = file === 'file' ? db.usage : db;
    return (await findUsagePair(reader, file))?.commits;
  };
  assert.equal(await commits('main'), 0);
  await recordCommits(db);
  assert.deepEqual([await commits('main'), await commits('file')], [1, 1]);
});

test('a start that was killed while it made a pair makes it again', async () => {
  await using at = await fixture();
  // The commit of the first file comes first, so the second one has an earlier generation.
  const before = `${at.path}.before`;
  let db = await at.reopen(() => renameSync(at.path, before));
  await readUses(db.usage, [used]);
  db = await at.reopen(() => (remove(at.path), renameSync(before, at.path)));
  assert.deepEqual(await stateOf(db), { uses: [], disabled: [] });
  assert.deepEqual(at.renewals, ['missing', 'foreign']);
});

function damagePages(path: string): void {
  const bytes = readFileSync(path);
  // The header and the schema stay.
  bytes.fill(0xff, 4_096 * 4);
  writeFileSync(path, bytes);
}

test('a file that is replaced or damaged while it is open is replaced by a new one', async () => {
  await using at = await fixture();
  const { db } = at;
  remove(at.path);
  await useKeys(db, [{ id: unused, at: now + 1 }]);
  assert.deepEqual((await stateOf(db)).uses, [now + 1]);
  assert.deepEqual(at.renewals, ['missing']);
  const open = await at.reopen(() => damagePages(at.path));
  assert.deepEqual(await stateOf(open), { uses: [], disabled: [] });
  await useKeys(open, [{ id: used, at: now + 5 }]).catch(() => undefined);
  await useKeys(open, [{ id: used, at: now + 5 }]);
  assert.deepEqual((await stateOf(open)).uses, [now + 5]);
  assert.deepEqual(at.renewals, ['missing', 'unusable']);
});

test('the database is compacted beside a damaged file, with a warning', async () => {
  await using at = await fixture();
  const path = at.path.replace(/\.usage$/, '');
  assert.deepEqual((await compactDatabase(at.db, path)).warnings, []);
  const db = await at.reopen(() => damagePages(at.path));
  const { bytesAfter, warnings } = await compactDatabase(db, path);
  assert.deepEqual([bytesAfter, warnings.length], [statSync(path).size, 1]);
  assert.match(warnings[0] ?? '', /\.usage: it is locked, or cannot be read/);
});

test('an error of the main file within a transaction or a snapshot leaves the file in its place', async () => {
  await using at = await fixture();
  const { db } = at;
  const failing = () => db.get(sql('test_no_table', 'select 1 from test_no_table'));
  await assert.rejects(db.usage.transaction(failing), { code: 'unavailable' });
  await assert.rejects(db.usage.snapshot(failing), { code: 'unavailable' });
  assert.deepEqual((await stateOf(db)).uses, [now + dayMs]);
  assert.deepEqual([at.renewals, existsSync(`${at.path}.unusable`)], [[], false]);
});

test('while the file cannot be opened, keys are listed and backed up, and none is disabled', async () => {
  await using at = await fixture();
  using temp = newTempFolder();
  const db = await at.reopen(() => (remove(at.path), mkdirSync(at.path)));
  await assert.rejects(useKeys(db, [{ id: used, at: now }]), { code: 'unavailable' });
  assert.deepEqual(await stateOf(db), { uses: [], disabled: [] });
  await assert.rejects(check(db, later), { code: 'unavailable' });
  assert.deepEqual((await stateOf(db)).disabled, []);
  const unusedSince = new Date(later).toISOString();
  await assert.rejects(findOwnedKeys(db, { unusedSince }), { code: 'unavailable' }, 'a used key would be shown');
  assert.equal((await findOwnedKeys(db, {})).rows.length, 2);
  const clock = new FakeClock(later);
  const usage = new KeyUsage({ db, clock, keyChanges: newKeyChanges(db, clock), keptDays: 90 });
  assert.equal(await usage.recent('acc_ada', used), undefined);
  assert.equal(await usage.recentOfKeys([used]), undefined);
  const backup = join(temp.path, 'backup');
  const counts = await backUp(db, backup);
  assert.deepEqual([counts['api_keys'], counts['key_usage'], counts['key_last_uses']], [2, 0, 0]);
  await using fresh = await databases['sqlite']!();
  assert.deepEqual((await restore(fresh.db, backup, { acceptsRevival: true })).warnings, []);
  const { warnings, rows } = await restore(db, backup, { acceptsRevival: true, mayReplace: true });
  assert.deepEqual([warnings.length, rows['api_keys'], rows['key_usage']], [1, 2, undefined]);
  assert.match(warnings[0] ?? '', /^usage and times of last use/);
});

test('a file that cannot be opened is tried once a second', async () => {
  await using at = await fixture();
  const db = await at.reopen(() => (remove(at.path), mkdirSync(at.path)));
  let nowMs = 0;
  let attempts = 0;
  const open = (path: string): Promise<SqliteDb> => {
    attempts++;
    return SqliteDb.open(path, keys.auditChain);
  };
  const file = new UsageFile(db, at.path.replace(/\.usage$/, ''), open, () => nowMs);
  for (nowMs of [0, 1, 999]) await assert.rejects(readUses(file, [used]), { code: 'unavailable' });
  assert.equal(attempts, 1);
  nowMs = 1_000;
  await assert.rejects(readUses(file, [used]), { code: 'unavailable' });
  assert.equal(attempts, 2);
  rmSync(at.path, { recursive: true });
  await file.reopen();
  assert.equal((await readUses(file, [used])).size, 0);
  await file.close();
});

test('a restore that is killed after the commit of the first file leaves no rows of before', async () => {
  await using at = await fixture();
  await at.db.transaction(forgetUsageFileTx);
  const db = await at.reopen();
  assert.deepEqual((await stateOf(db)).uses, []);
  assert.deepEqual(at.renewals, [], 'the restore has reported it');
});

test('a service that runs beside a restore goes on with the restored file', async () => {
  await using at = await fixture();
  using temp = newTempFolder();
  const backup = join(temp.path, 'backup');
  await backUp(at.db, backup);
  await useKeys(at.db, [{ id: unused, at: later }]);
  const command = await at.connect();
  const { warnings } = await restore(command, backup, { acceptsRevival: true, mayReplace: true });
  assert.deepEqual([warnings, (await stateOf(at.db)).uses], [[], [now + dayMs]]);
  await useKeys(at.db, [{ id: unused, at: later }]);
  await recordCommits(at.db);
  await command.close();
  const db = await at.reopen();
  assert.deepEqual((await stateOf(db)).uses, [now + dayMs, later]);
  assert.deepEqual(at.renewals, []);
});

test('a restore keeps the usage of the backup when a service writes meanwhile, and succeeds without it', async () => {
  await using at = await fixture();
  using temp = newTempFolder();
  const backup = join(temp.path, 'backup');
  await backUp(at.db, backup);
  const command = await at.connect();
  /** Restores, with something that happens before the rows of usage are loaded. */
  const restoreWith = async (meanwhile: () => Promise<unknown>) => {
    const { usageFile } = command;
    assert.ok(usageFile);
    const reopen = usageFile.reopen.bind(usageFile);
    usageFile.reopen = async () => {
      await reopen();
      await meanwhile();
    };
    const { warnings } = await restore(command, backup, { acceptsRevival: true, mayReplace: true });
    usageFile.reopen = reopen;
    return warnings;
  };
  assert.deepEqual(await restoreWith(() => useKeys(at.db, [{ id: used, at: later }])), []);
  assert.deepEqual((await stateOf(at.db)).uses, [now + dayMs]);
  const [warning = ''] = await restoreWith(async () => truncateSync(backup, 100));
  assert.match(warning, /^usage and times of last use of keys, because .*backup/);
  assert.deepEqual((await stateOf(at.db)).uses, []);
  await command.close();
});
