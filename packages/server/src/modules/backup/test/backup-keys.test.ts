/** Restores of a backup into databases with other root keys and other master keys. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootKeysOfBackup } from '../backup-keys.ts';
import { BackupError } from '../format.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { RootKeys, wrapRootKey } from '../../../foundation/crypto/root-key.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { newestSchema } from '../../../foundation/database/migrate.ts';
import { insertRootKeyTx, listRootKeys } from '../../../foundation/database/root-keys.ts';
import { saveInstanceTx } from '../../overview/store.ts';
import { databases, testRootKeys } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { now } from '../../../../test-kit/rows.ts';
import { backUp, later, restore } from './backup-kit.ts';
import { contentsOf, fill } from './whole-installation.ts';

const [first, second] = [Buffer.alloc(32, 7), Buffer.alloc(32, 2)];
const accepting = { mayReplace: true, acceptsRevival: true };

onEachDatabase('a restored root key keeps its wrapping', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  const random = RootKeys.create(first, now);
  const keys = deriveKeys(random.newest);
  await claimInstallation(db, keys.check, now);
  await db.transaction((tx) => insertRootKeyTx(tx, random.rows[0]!));
  await backUp(db, path, keys);
  await using fresh = await databases[db.dialect]!();
  const rootKeys = await rootKeysOfBackup({ path }, newestSchema(db.dialect), first);
  await restore(fresh.db, path, { keys: deriveKeys(rootKeys.newest), rootKeys, ...accepting });
  assert.deepEqual(RootKeys.open(first, await listRootKeys(fresh.db))?.newest, random.newest);
});

onEachDatabase('a restore keeps the master key of the same installation', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await backUp(db, path);
  const rotated = wrapRootKey(second, testRootKeys.newest, { version: 1, generation: 2, createdAt: later });
  await db.transaction((tx) => insertRootKeyTx(tx, rotated));
  const current = RootKeys.open(second, await listRootKeys(db));
  const rootKeys = await rootKeysOfBackup({ path }, newestSchema(db.dialect), second, current);
  await restore(db, path, { rootKeys, ...accepting });
  assert.equal((await listRootKeys(db)).length, 2);
  await assert.rejects(
    rootKeysOfBackup({ path }, newestSchema(db.dialect), second),
    /restoring it needs that one \(id /,
  );
});

onEachDatabase('a database of another installation is replaced only while no instance of it runs', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await backUp(db, path);
  await using other = await databases[db.dialect]!();
  await claimInstallation(other.db, deriveKeys(second).check, now);
  const run = (seenAt: number): Promise<void> =>
    other.db.transaction((tx) =>
      saveInstanceTx(tx, { id: 'ins_other', version: '1', startedAt: now, seenAt, masterKeyId: '', settings: '{}' }),
    );
  await run(later);
  const before = await contentsOf(other.db);
  await assert.rejects(
    restore(other.db, path, accepting),
    /of different installations, and instances use the database: ins_other; stop the service/,
  );
  assert.deepEqual(await contentsOf(other.db), before);
  await run(later - 180_001);
  await restore(other.db, path, accepting);
  assert.ok(RootKeys.open(first, await listRootKeys(other.db)));
});

onEachDatabase('a backup with an edited wrapping is rejected', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await backUp(db, path);
  const text = readFileSync(path, 'utf8');
  for (const [pattern, replacement] of [
    [/"wrapped":"01../, '"wrapped":"01zz'],
    [/"wrapped":"01/, '"wrapped":"02'],
    [/"generation":1/, '"generation":2'],
    [/"rootKeys":\[[^\]]*\]/, '"rootKeys":7'],
    [/"masterKeyId":"[0-9a-f]{16}"/, '"masterKeyId":7'],
  ] as const) {
    assert.match(text, pattern);
    writeFileSync(path, text.replace(pattern, replacement));
    await assert.rejects(rootKeysOfBackup({ path }, newestSchema(db.dialect), first), BackupError, replacement);
  }
});
