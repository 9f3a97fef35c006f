/** Commands that rotate the master key beside an SQLite database at the same time leave a file that opens the installation. */
import assert from 'node:assert/strict';
import fs, { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../configuration/config.ts';
import { readMasterKey } from '../key-files/master-key-file.ts';
import { MasterKeyFiles } from '../key-files/master-key-rotation-files.ts';
import { openInstallation } from '../installation/installation.ts';
import { systemClock } from '../../foundation/clock.ts';
import { masterKeyIdOf } from '../../foundation/crypto/root-key.ts';
import { listRootKeys } from '../../foundation/database/root-keys.ts';
import {
  cancelRotation,
  finishRotation,
  masterKeysIn,
  RotationError,
  startRotation,
  withMasterKeys,
} from '../../modules/master-key/rotation.ts';
import { operator } from '../../../test-kit/rows.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { skipWithoutRoot } from '../../../test-kit/skip-without-root.ts';

/** An installation with its master key beside its database. */
async function newBeside() {
  const temp = newTempFolder();
  const config = readConfig({ KEYREEVE_DATABASE_URL: `sqlite:${join(temp.path, 'keyreeve.db')}` });
  const open = () => openInstallation(config, { clock: systemClock, mayCreate: true });
  const { db, rootKeys } = await open();
  const files = new MasterKeyFiles(join(temp.path, 'keyreeve.db.master-key'), config);
  const idInUse = () => masterKeyIdOf(readMasterKey(files.path, config));
  const dispose = async () => {
    await db.close();
    temp[Symbol.dispose]();
  };
  return { open, db, rootKeys, files, idInUse, folder: temp.path, [Symbol.asyncDispose]: dispose };
}

type Beside = Awaited<ReturnType<typeof newBeside>>;

const start = ({ db, rootKeys, files }: Beside) =>
  startRotation(operator, { db, clock: systemClock, rootKeys }, (added) => files.newMasterKey(added));
const putAdded = ({ db, files }: Beside, id: string): Promise<void> =>
  withMasterKeys(db, (keys) => files.putAddedInPlace(id, keys));

test('a rotation that is cancelled before its file is in place leaves the previous file', async () => {
  await using beside = await newBeside();
  const { db, rootKeys, files, idInUse, open } = beside;
  const { masterKeyId } = await start(beside);
  await cancelRotation(operator, { db, clock: systemClock, rootKeys }, (kept, removed) => {
    files.putInPlace(kept.id);
    files.removeNext();
    files.removeCancelled(removed.id);
  });
  await assert.rejects(putAdded(beside, masterKeyId), (error) => {
    assert.ok(error instanceof RotationError);
    assert.match(error.message, /^another command has cancelled the rotation to the master key [0-9a-f]{16}; /);
    return true;
  });
  assert.equal(idInUse(), rootKeys.masterKeyId);
  await (await open()).db.close();
});

test('each end of a rotation puts the file of the remaining master key in place before its commit', async () => {
  await using beside = await newBeside();
  const { db, rootKeys, files, idInUse, open } = beside;
  const { masterKeyId } = await start(beside);
  await putAdded(beside, masterKeyId);
  assert.equal(idInUse(), masterKeyId);
  // Opened with the previous master key, as by a command that began before the new file was in place.
  let removedId: string | undefined;
  await cancelRotation(operator, { db, clock: systemClock, rootKeys }, (kept, removed) => {
    removedId = removed.id;
    files.putInPlace(kept.id);
    assert.equal(idInUse(), rootKeys.masterKeyId);
  });
  assert.equal(removedId, masterKeyId);
  const next = await start(beside);
  await putAdded(beside, next.masterKeyId);
  const opened = await open();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => opened.db.close());
  // Another command puts the previous file back, and is killed.
  await withMasterKeys(db, () => files.putInPlace(rootKeys.masterKeyId));
  const { db: other, rootKeys: otherKeys } = opened;
  await finishRotation(operator, { db: other, clock: systemClock, rootKeys: otherKeys }, (kept) =>
    files.putInPlace(kept.id),
  );
  assert.equal(idInUse(), next.masterKeyId);
  assert.deepEqual(
    masterKeysIn(await listRootKeys(db)).map(({ id }) => id),
    [next.masterKeyId],
  );
});

test('nothing is removed if the file of the remaining master key is lost', async () => {
  await using beside = await newBeside();
  const { db, rootKeys, files } = beside;
  await start(beside);
  const step = cancelRotation(operator, { db, clock: systemClock, rootKeys }, () => files.putInPlace('0'.repeat(16)));
  await assert.rejects(step, /no file beside \S+ contains the master key 0{16}; set KEYREEVE_MASTER_KEY_FILE/);
  assert.equal(masterKeysIn(await listRootKeys(db)).length, 2);
});

test('of two rotations at the same time, both put the same master key in place', async () => {
  await using beside = await newBeside();
  const [one, two] = [await start(beside), await start(beside)];
  assert.deepEqual([one.isAdded, two.isAdded, two.masterKeyId], [true, false, one.masterKeyId]);
  await putAdded(beside, two.masterKeyId);
  await putAdded(beside, one.masterKeyId);
  assert.equal(beside.idInUse(), one.masterKeyId);
});

test(
  'the files of a rotation belong to the user of the service from their creation',
  { skip: skipWithoutRoot },
  async () => {
    await using beside = await newBeside();
    const { files, rootKeys } = beside;
    const ownerOf = (path: string): number[] => [statSync(path).uid, statSync(path).gid, statSync(path).mode & 0o777];
    chownSync(files.path, 65_534, 65_534);
    const { masterKeyId } = await start(beside);
    assert.deepEqual(ownerOf(`${files.path}.next`), [65_534, 65_534, 0o600]);
    await putAdded(beside, masterKeyId);
    for (const path of [files.path, files.keptOf(rootKeys.masterKeyId)])
      assert.deepEqual(ownerOf(path), [65_534, 65_534, 0o600]);
  },
);

test('a file with the name of a kept one, but without its master key, does not replace it', async () => {
  await using beside = await newBeside();
  const { files, rootKeys } = beside;
  const old = readFileSync(files.path, 'utf8');
  writeFileSync(files.keptOf(rootKeys.masterKeyId), 'other\n', { mode: 0o600 });
  const { masterKeyId } = await start(beside);
  await putAdded(beside, masterKeyId);
  assert.equal(readFileSync(files.keptOf(rootKeys.masterKeyId), 'utf8'), old);
});

test('the previous master key is on the disk under its other name before the new one takes its place', async (t) => {
  await using beside = await newBeside();
  const { masterKeyId } = await start(beside);
  const calls: string[] = [];
  for (const name of ['linkSync', 'fsyncSync', 'renameSync'] as const) {
    const call = fs[name] as (...args: unknown[]) => void;
    t.mock.method(fs, name, (...args: unknown[]) => {
      calls.push(name);
      call(...args);
    });
  }
  syncBuiltinESMExports();
  try {
    await putAdded(beside, masterKeyId);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.deepEqual(calls, ['linkSync', 'fsyncSync', 'renameSync', 'fsyncSync']);
});
