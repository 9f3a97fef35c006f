/** A rotation of the root key that the end of its process interrupts, before and after its commit. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isInDatabaseFiles } from '../../../../test-kit/database-files.ts';
import { operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { useOwnPostgres } from '../../../../test-kit/postgres/running.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { findMasterKey } from '../../../app/installation/installation.ts';
import { deriveAllKeys } from '../../../foundation/crypto/master-key.ts';
import { replaceRootKeysTx } from '../../../foundation/database/root-keys.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { prepareJournal, withPreparedJournals } from '../../deletion-journal/change-key.ts';
import { readJournal, readPosition } from '../../deletion-journal/files.ts';
import { finishRotation } from '../../master-key/rotation.ts';
import { RootKeyRotationError } from '../rotate.ts';
import { newRotatable } from './rotation-kit.ts';

useOwnPostgres();

async function deleteKey(app: TestApp): Promise<string> {
  const { account } = await app.signIn(`user${randomInt(2 ** 40)}@example.com`);
  const { apiKeys } = app.service.services;
  const { id } = await apiKeys.create(operator, account.id, { nickname: 'a', scopes: [] });
  await apiKeys.delete(operator, account.id, id);
  return `api_key ${id}`;
}

/** @returns the entries of the journal, of which every file is genuine */
async function assertComplete({ db, installation: { keys }, clock }: TestApp, folder: string): Promise<string[]> {
  const { findings } = await db.snapshot((reader) => verifyLog(reader, keys, { now: clock.now() }));
  assert.deepEqual(findings, []);
  assert.ok(await readPosition(folder, keys));
  return (await Array.fromAsync(readJournal(folder, keys))).map(({ kind, id }) => `${kind} ${id}`);
}

test('a process that is killed before the commit leaves the installation as it was', async () => {
  await using installation = await newRotatable();
  const { path: folder } = installation.folder;
  const deleted = await installation.run(async (app) => {
    const entry = await deleteKey(app);
    const { keys, rootKeys } = app.installation;
    const next = rootKeys.rotate(findMasterKey(installation.config));
    const { files } = await prepareJournal(folder, keys, deriveAllKeys(next.keys));
    assert.ok(files > 0);
    return entry;
  });
  await installation.run(async (app) => {
    assert.equal(app.installation.keys.version, 1);
    assert.ok((await assertComplete(app, folder)).includes(deleted));
  });
  assert.equal((await installation.rotate()).version, 2);
  await installation.run(async (app) => assert.ok((await assertComplete(app, folder)).includes(deleted)));
});

test('a failure removes the lists of the deletion journals, unless the rotation may have been committed', async () => {
  await using installation = await newRotatable();
  using foreign = newTempFolder();
  await using other = await newRotatable();
  await other.run(deleteKey);
  for (const name of readdirSync(other.folder.path))
    copyFileSync(join(other.folder.path, name), join(foreign.path, name));
  const { path: folder } = installation.folder;
  const { keys, rootKeys } = await installation.run(async (app) => {
    await deleteKey(app);
    return app.installation;
  });
  const next = deriveAllKeys(rootKeys.rotate(findMasterKey(installation.config)).keys);
  const lists = () => readdirSync(folder).filter((name) => name.endsWith('.list'));
  const rotating = (folders: string[], error: Error) =>
    withPreparedJournals(folders, keys, next, () => {
      assert.equal(lists().length, 1);
      return Promise.reject(error);
    });
  for (const error of [new RootKeyRotationError('the service runs'), new DomainError('unavailable')]) {
    await assert.rejects(rotating([folder], error), error);
    assert.deepEqual(lists(), []);
  }
  await assert.rejects(rotating([folder, foreign.path], new Error('not called')), /belongs to another installation/);
  assert.deepEqual(lists(), []);
  const unknown = new DomainError('unavailable', { isOutcomeUnknown: true });
  await assert.rejects(rotating([folder], unknown), unknown);
  assert.equal(lists().length, 1);
});

test('a process that is killed after the commit has completed the rotation, and the next start completes the journal', async () => {
  await using installation = await newRotatable();
  using kept = newTempFolder();
  const { path: folder } = installation.folder;
  const deleted = await installation.run(deleteKey);
  for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(kept.path, name));
  await installation.rotate();
  // The folder at the time of the commit: the earlier files, and the list of them.
  for (const name of readdirSync(folder)) if (!name.endsWith('.list')) rmSync(join(folder, name));
  for (const name of readdirSync(kept.path)) copyFileSync(join(kept.path, name), join(folder, name));
  await installation.run(async (app) => {
    assert.equal(app.installation.keys.version, 2);
    const entries = await assertComplete(app, folder);
    assert.ok(entries.includes(deleted));
    assert.ok(entries.some((entry) => entry.startsWith('signing_key ')));
    const later = await deleteKey(app);
    assert.ok((await assertComplete(app, folder)).includes(later));
  });
});

test('after a kill between the commit and the erasure, `master-key rotate --finish` erases the earlier wrappings', async () => {
  await using installation = await newRotatable();
  await installation.run((app) => app.signIn());
  const { config, clock } = installation;
  await using opened = await installation.open();
  const { db, rootKeys } = opened;
  const [before] = rootKeys.rows;
  assert.ok(before);
  const next = rootKeys.rotate(findMasterKey(config));
  // What the commit of a rotation leaves.
  await db.transaction((tx) => replaceRootKeysTx(tx, next.rows));
  assert.equal(await isInDatabaseFiles(db, before.wrapped), true);
  const ended = await finishRotation(operator, { db, clock, rootKeys: next });
  assert.deepEqual(ended, { removedId: undefined, isErased: true });
  assert.equal(await isInDatabaseFiles(db, before.wrapped), false);
});
