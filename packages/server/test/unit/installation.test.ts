/** Making the master key of a new installation. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { masterKeyPath, openInstallation } from '../../src/installation.ts';
import { newTempFolder } from '../../src/testing/temp-folder.ts';

test('a master key is made beside the draft that a killed start with the same process id has left', async () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'keyreeve.db');
  const left = `${masterKeyPath(path)}.${process.pid}`;
  writeFileSync(left, 'half of a k');
  const config = readConfig({ KEYREEVE_DATABASE_URL: `sqlite:${path}` });
  const { db } = await openInstallation(config, { clock: systemClock, mayCreate: true, mayMigrate: true });
  await db.close();
  assert.match(readFileSync(masterKeyPath(path), 'utf8'), /^[A-Za-z0-9_-]{43}\n$/);
  assert.equal(statSync(masterKeyPath(path)).mode & 0o777, 0o600);
  // Nothing of the way there remains.
  const drafts = readdirSync(folder.path).filter((name) => name.includes('.master-key.'));
  assert.deepEqual(drafts, [`keyreeve.db.master-key.${process.pid}`]);
});
