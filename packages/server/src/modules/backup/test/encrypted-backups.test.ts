/** Encrypted backups: each identity restores them, and a damaged one changes nothing. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateHybridIdentity, generateIdentity, identityToRecipient } from 'age-encryption';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { decryptWith, encryptFor } from '../encryption.ts';
import { BackupError } from '../format.ts';
import { sendBackup, writeBackup } from '../write-backup.ts';
import { restore } from './backup-kit.ts';
import { contentsOf, fill } from './whole-installation.ts';

/** A folder with two files of identities, each with its recipient. */
async function newIdentities() {
  const folder = newTempFolder();
  const identities = [await generateIdentity(), await generateHybridIdentity()];
  const files = identities.map((_, index) => join(folder.path, `identity-${index}`));
  for (const [index, identity] of identities.entries())
    writeFileSync(files[index] ?? '', `# created: 2026-11-21\n${identity}\n`, { mode: 0o600 });
  const recipients = await Promise.all(identities.map((identity) => identityToRecipient(identity)));
  return Object.assign(folder, { files, recipients });
}

const optionsOf = async (db: Db, recipients: readonly string[]) => ({
  db,
  keys,
  clock: new FakeClock(now + 1),
  version: '1.2.3',
  encrypt: await encryptFor(recipients),
});

onEachDatabase(
  'each identity restores a backup that is encrypted for several, as a file or a stream',
  async ({ db }) => {
    using folder = await newIdentities();
    await fill(db);
    const path = join(folder.path, 'backup.gz.age');
    const streamed = join(folder.path, 'streamed');
    const options = await optionsOf(db, folder.recipients);
    const rows = await writeBackup({ ...options, path });
    assert.deepEqual(await sendBackup(options, (bytes) => writeFile(streamed, bytes)), rows);
    const expected = await contentsOf(db);
    for (const [index, file] of [path, streamed].entries()) {
      const text = readFileSync(file, 'latin1');
      assert.deepEqual([text.startsWith('age-encryption.org/v1\n'), text.includes('keyreeve')], [true, false]);
      const decrypt = await decryptWith(folder.files[index] ?? '');
      const restored = await restore(db, file, { decrypt, mayReplace: true, acceptsRevival: true });
      assert.deepEqual(restored.rows['api_keys'], rows['api_keys']);
      const found = await contentsOf(db);
      for (const name of ['api_keys', 'key_usage', 'key_last_uses']) assert.deepEqual(found[name], expected[name]);
    }
  },
);

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};

test('a damaged, truncated or extended encrypted backup is rejected, and changes nothing', async () => {
  using folder = await newIdentities();
  await using opened = await databases['sqlite']!();
  const { db } = opened;
  await fill(db);
  const path = join(folder.path, 'backup.age');
  await writeBackup({ ...(await optionsOf(db, folder.recipients.slice(0, 1))), path });
  const decrypt = await decryptWith(folder.files[0] ?? '');
  const bytes = readFileSync(path);
  const header = bytes.indexOf('\n--- ');
  const payload = bytes.indexOf('\n', header + 1) + 1;
  const before = await contentsOf(db);
  const damages: Readonly<Record<string, Buffer>> = {
    'in its MAC': changed(bytes, header + 10),
    'in its nonce': changed(bytes, payload),
    'in its content': changed(bytes, payload + 100),
    'in its last byte': changed(bytes, bytes.length - 1),
    'in its recipient': changed(bytes, bytes.indexOf('X25519 ') + 10),
    'cut in its header': bytes.subarray(0, header),
    'cut after its header': bytes.subarray(0, payload),
    'cut in its content': bytes.subarray(0, payload + 500),
    'cut before its last byte': bytes.subarray(0, -1),
    'with a further byte': Buffer.concat([bytes, Buffer.of(0)]),
  };
  for (const [name, damage] of Object.entries(damages)) {
    writeFileSync(path, damage);
    await assert.rejects(
      restore(db, path, { decrypt, mayReplace: true, acceptsRevival: true }),
      (error) => error instanceof BackupError && /is damaged or was edited|encrypted for other/.test(error.message),
      name,
    );
    assert.deepEqual(await contentsOf(db), before, name);
  }
});

test('wrong recipients and identities are rejected with their names', async () => {
  using folder = await newIdentities();
  const [file = '', other = ''] = folder.files;
  await using opened = await databases['sqlite']!();
  const path = join(folder.path, 'backup.age');
  await writeBackup({ ...(await optionsOf(opened.db, folder.recipients.slice(0, 1))), path });
  const attempt = async (identity?: string) =>
    restore(opened.db, path, { decrypt: identity === undefined ? undefined : await decryptWith(identity) });
  await assert.rejects(attempt(), { message: `${path} is encrypted; name the file of its identity with --identity` });
  await assert.rejects(attempt(other), {
    message: `the backup is encrypted for other recipients than those of the identities in ${other}`,
  });
  const invalid = join(folder.path, 'invalid');
  const notIdentities = `${invalid} is not a file of identities: it needs lines AGE-SECRET-KEY-…, as age-keygen writes them`;
  for (const text of ['', '# no identity\n', `${folder.recipients[0]}\n`, 'AGE-SECRET-KEY-1QQ\n']) {
    writeFileSync(invalid, text, { mode: 0o600 });
    await assert.rejects(attempt(invalid), { message: notIdentities }, text);
  }
  const readable = join(folder.path, 'readable');
  writeFileSync(readable, readFileSync(file), { mode: 0o644 });
  await assert.rejects(attempt(readable), /can be read by others; it must have mode 0600/);
  for (const recipient of ['age1', 'ssh-ed25519 AAAA', 'AGE-SECRET-KEY-1QQ'])
    await assert.rejects(encryptFor([...folder.recipients, recipient]), {
      message: 'recipient 3 is not a public key of age: name the one that age-keygen prints, age1…',
    });
});
