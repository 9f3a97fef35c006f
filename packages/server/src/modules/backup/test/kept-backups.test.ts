/** A folder keeps the newest backups of an installation, and files of nothing else are deleted. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { hourMs, toInstant } from '../../../foundation/clock.ts';
import { deriveKeys, type InstallationKeys } from '../../../foundation/crypto/master-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { BackupError } from '../format.ts';
import { assertFolder, newBackupName, pruneBackups } from '../kept-backups.ts';
import { writeBackup } from '../write-backup.ts';

const otherKeys = deriveKeys(Buffer.alloc(32, 8));

/** @returns the path of a new backup */
async function backUp(db: Db, folder: string, madeAt: number, by: InstallationKeys = keys): Promise<string> {
  const path = join(folder, newBackupName(by, madeAt));
  await writeBackup({ db, keys: by, clock: new FakeClock(madeAt), version: '1.2.3', path, isReadBack: true });
  return path;
}

const prune = (folder: string, path: string, keep: number) =>
  pruneBackups(folder, { keys, path, keep, clock: new FakeClock(now + hourMs) });

test('the name of a backup has its installation and its time in UTC', () => {
  assert.match(
    newBackupName(keys, Date.UTC(2026, 10, 21, 3, 4, 5, 6)),
    /^keyreeve-[0-9a-f]{8}-20261121T030405\.006Z-[0-9a-f]{4}-[0-9a-f]{16}\.gz$/,
  );
  assert.notEqual(newBackupName(keys, now), newBackupName(otherKeys, now));
});

test('the newest backups stay, older ones are deleted, oldest first', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const paths: string[] = [];
  for (let day = 0; day < 4; ++day) paths.push(await backUp(opened.db, folder.path, now + day));
  assert.deepEqual(await prune(folder.path, paths[3]!, 2), {
    deleted: paths.slice(0, 2),
    kept: 2,
    inFuture: undefined,
  });
  assert.deepEqual(
    readdirSync(folder.path).map((name) => join(folder.path, name)),
    paths.slice(2),
  );
  assert.deepEqual(await prune(folder.path, paths[3]!, 2), { deleted: [], kept: 2, inFuture: undefined });
});

test('files that are not backups of this installation by name and header stay', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const { path: at } = folder;
  const oldest = await backUp(opened.db, at, now);
  const header = gunzipSync(readFileSync(oldest)).toString();
  const named = (ms: number): string => join(at, newBackupName(keys, now + ms));
  await backUp(opened.db, at, now + 1, otherKeys);
  // A backup of this installation with another name, and with the name of another time.
  copyFileSync(oldest, join(at, 'before-upgrade.gz'));
  copyFileSync(oldest, named(2));
  // The name of a backup, with other contents.
  writeFileSync(named(3), 'notes');
  writeFileSync(named(4), gzipSync(header.replace(/"installation":"\w{8}/, '"installation":"00000000')));
  writeFileSync(named(5), gzipSync(header).subarray(0, 40));
  writeFileSync(named(6), '');
  mkdirSync(named(7));
  symlinkSync(oldest, named(8));
  const others = readdirSync(at).filter((name) => join(at, name) !== oldest);
  assert.equal(others.length, 9);
  const newest = await backUp(opened.db, at, now + 9);
  assert.deepEqual(await prune(at, newest, 1), { deleted: [oldest], kept: 1, inFuture: undefined });
  assert.deepEqual(readdirSync(at).toSorted(), [...others, basename(newest)].toSorted());
});

test('planted files take the place of no backup, and cause no failure', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const { path: at } = folder;
  const removed = await backUp(opened.db, at, now - 1);
  const older = await backUp(opened.db, at, now);
  const newest = await backUp(opened.db, at, now + 1);
  const [header = ''] = gunzipSync(readFileSync(newest)).toString().split('\n');
  const plant = (name: string, change: Record<string, unknown>): void =>
    writeFileSync(join(at, name), gzipSync(`${JSON.stringify({ ...JSON.parse(header), ...change })}\n`));
  assert.deepEqual((await prune(at, newest, 2)).deleted, [removed]);
  for (let ms = 2; ms < 6; ms++) {
    const madeAt = toInstant(now + ms);
    const stamp = madeAt.replaceAll(/[-:]/g, '');
    // The MAC of another name, and a name without one.
    plant(basename(newest).replace(/\d{8}T[^Z]*Z/, stamp), { madeAt });
    plant(basename(newest).replace(/\d{8}T.*/, `${stamp}-0123.gz`), { madeAt });
  }
  // A time in the future would stop the deletion of backups.
  plant(basename(newest).replace(/\d{8}T/, '29990101T'), { madeAt: '2999-01-01T00:00:00.000Z' });
  // The name of a deleted backup, with a header that has its time.
  plant(basename(removed), { madeAt: toInstant(now - 1) });
  for (const [index, madeAt] of [5, null, {}, 'yesterday'].entries())
    plant(newBackupName(keys, now + 10 + index), { madeAt });
  assert.deepEqual(await prune(at, newest, 2), { deleted: [removed], kept: 2, inFuture: undefined });
  assert.deepEqual(await prune(at, newest, 1), { deleted: [older], kept: 1, inFuture: undefined });
});

test('a backup stays while a newer one is made at the same time', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const first = await backUp(opened.db, folder.path, now);
  const second = await backUp(opened.db, folder.path, now + 1);
  // The slower command has the older backup.
  assert.deepEqual(await prune(folder.path, first, 1), { deleted: [], kept: 2, inFuture: undefined });
  assert.deepEqual(await prune(folder.path, second, 1), { deleted: [first], kept: 1, inFuture: undefined });
  // Another command has deleted its backup.
  assert.deepEqual(await prune(folder.path, first, 1), { deleted: [], kept: 1, inFuture: undefined });
});

test('a backup that another command completes during the deletion is not from the future', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const oldest = await backUp(opened.db, folder.path, now);
  const path = await backUp(opened.db, folder.path, now + 1);
  const other = await backUp(opened.db, folder.path, now + 3);
  const hidden = `${other}.hidden`;
  renameSync(other, hidden);
  // The other command completes its backup just after the time has been read.
  const clock = {
    now: () => {
      renameSync(hidden, other);
      return now + 2;
    },
  };
  assert.deepEqual(await pruneBackups(folder.path, { keys, path, keep: 1, clock }), {
    deleted: [oldest],
    kept: 1,
    inFuture: undefined,
  });
  assert.deepEqual(readdirSync(folder.path).toSorted(), [basename(path), basename(other)].toSorted());
});

test('nothing is deleted beside a backup from the future, because the clock is or was wrong', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  await backUp(opened.db, folder.path, now);
  const ahead = await backUp(opened.db, folder.path, now + hourMs + 1);
  const path = await backUp(opened.db, folder.path, now + 1);
  assert.deepEqual(await prune(folder.path, path, 1), { deleted: [], kept: 3, inFuture: ahead });
  assert.equal(readdirSync(folder.path).length, 3);
});

test('drafts of killed commands are deleted, and drafts of running commands stay', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const draft = (name: string, ageMs: number): string => {
    const path = join(folder.path, `${name}.0123456789abcdef.partial`);
    writeFileSync(path, 'half');
    const at = new Date(Date.now() - ageMs);
    utimesSync(path, at, at);
    return path;
  };
  draft(newBackupName(keys, now), 13 * hourMs);
  const kept = [
    draft(newBackupName(keys, now + 1), 0),
    // A command reads it back.
    draft(newBackupName(keys, now + 2), 11 * hourMs),
    draft(newBackupName(otherKeys, now), 13 * hourMs),
    draft('mine.gz', 13 * hourMs),
  ];
  const path = await backUp(opened.db, folder.path, now + 3);
  await prune(folder.path, path, 1);
  assert.deepEqual(
    readdirSync(folder.path)
      .map((name) => join(folder.path, name))
      .toSorted(),
    [...kept, path].toSorted(),
  );
});

test('the folder must exist: a missing one is not created', async () => {
  using folder = newTempFolder();
  const missing = join(folder.path, 'missing');
  await assert.rejects(assertFolder(missing), new BackupError(`there is no folder ${missing}; create or mount it`));
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  await assert.rejects(
    assertFolder(file),
    new BackupError(`${file} is not a folder; with --keep, --to names a folder`),
  );
  await assertFolder(folder.path);
});
