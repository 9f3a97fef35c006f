/** Backups that a restore rejects: truncated, edited, of another installation, or newer than the program. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { rootKeysOfBackup } from '../backup-keys.ts';
import { BackupError } from '../format.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { newestSchema } from '../../../foundation/database/migrate.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { backUp, restore } from './backup-kit.ts';
import { contentsOf, fill } from './whole-installation.ts';

const lines = (text: string) => text.split('\n');
const edits: Readonly<Record<string, (text: string) => string>> = {
  'cut in its first line': (text) => text.slice(0, 40),
  'cut in a line': (text) => text.slice(0, text.length / 2),
  'cut after a line': (text) => lines(text).slice(0, 3).join('\n') + '\n',
  'without its last line feed': (text) => text.slice(0, -1),
  'with a changed value': (text) => text.replace('"role":"user"', '"role":"admin"'),
  'with a removed row': (text) => text.replace(/,\{"pk":2[^}]*\}/, ''),
  'with a removed line': (text) => lines(text).toSpliced(3, 1).join('\n'),
  'with a repeated line': (text) =>
    lines(text)
      .toSpliced(5, 0, lines(text)[5] ?? '')
      .join('\n'),
  'with another time': (text) => text.replace(/"madeAt":"2026/, '"madeAt":"2020'),
  'with other counts': (text) => text.replace('"api_keys":2', '"api_keys":3'),
  'without its MAC': (text) => text.replace(/,"mac":"\w+"/, ''),
  'with a line after its end': (text) => `${text}{"table":"accounts","rows":[]}\n`,
  'with a table that is not in backups': (text) => text.replace('"table":"api_keys"', '"table":"sessions"'),
  'that is an empty file': () => '',
  'that is another file': () => 'PK\x03\x04 not a backup\n',
};

onEachDatabase('a truncated or edited backup is rejected with one line, and changes no database', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await backUp(db, path);
  const text = readFileSync(path, 'utf8');
  const before = await contentsOf(db);
  for (const [name, edit] of Object.entries(edits)) {
    assert.notEqual(edit(text), text, name);
    writeFileSync(path, edit(text));
    const attempt = restore(db, path, { mayReplace: true, acceptsRevival: true });
    await assert.rejects(attempt, (error) => {
      assert.ok(error instanceof BackupError, `${name}: ${String(error)}`);
      assert.ok(error.message.startsWith(path) && !error.message.includes('\n'), error.message);
      return true;
    });
    assert.deepEqual(await contentsOf(db), before, name);
  }
});

test('a compressed backup has the same content, and a truncated or damaged one is rejected', async () => {
  using temp = newTempFolder();
  await using opened = await databases['sqlite']!();
  const { db } = opened;
  await fill(db);
  const [plain, path] = [join(temp.path, 'backup'), join(temp.path, 'backup.gz')];
  await backUp(db, plain);
  await backUp(db, path);
  const bytes = readFileSync(path);
  assert.equal(gunzipSync(bytes).toString(), readFileSync(plain, 'utf8'));
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8(damaged.readUInt8(200) ^ 1, 200);
  for (const wrong of [bytes.subarray(0, 100), bytes.subarray(0, -4), damaged, gzipSync('{}\n')]) {
    writeFileSync(path, wrong);
    await assert.rejects(
      restore(db, path, { mayReplace: true, acceptsRevival: true }),
      (error) => error instanceof BackupError,
    );
  }
});

test('a backup requires its master key and a version that is new enough, and never overwrites a file', async () => {
  using temp = newTempFolder();
  await using opened = await databases['sqlite']!();
  const { db } = opened;
  await fill(db);
  const path = join(temp.path, 'backup');
  await backUp(db, path);
  await assert.rejects(backUp(db, path), /already exists/);
  const more = { mayReplace: true, acceptsRevival: true };
  const others = deriveKeys(Buffer.alloc(32, 8));
  await assert.rejects(restore(db, path, { ...more, keys: others }), /is of another installation/);
  const opening = rootKeysOfBackup({ path }, newestSchema('sqlite'), Buffer.alloc(32, 8));
  await assert.rejects(opening, /made with another master key; restoring it needs that one \(id [0-9a-f]{16}; /);
  const text = readFileSync(path, 'utf8');
  for (const newer of [text.replace('"version":2', '"version":3'), text.replace(/"schema":\d+/, '"schema":99')]) {
    writeFileSync(path, newer);
    await assert.rejects(restore(db, path, more), /made by Keyreeve 1\.2\.3, which is newer than this program/);
  }
});
