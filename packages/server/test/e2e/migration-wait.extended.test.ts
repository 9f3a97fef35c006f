/** The output of the program while its migration waits for a backup on PostgreSQL. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { besideBackup } from '../../test-kit/beside-backup.ts';
import { newLaterProgram } from '../../test-kit/later-migration.ts';
import { databases } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { environmentFor, Program } from './program.ts';

test('migrate and serve report that they wait for a backup, and continue after it has ended', async () => {
  await using opened = await databases['postgres']!();
  using later = newLaterProgram();
  using folder = newTempFolder();
  const env = environmentFor(folder.path, {
    KEYREEVE_DATABASE_URL: opened.url,
    KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'),
  });
  const start = (command: string): Program =>
    new Program(
      spawn(process.execPath, [later.bin, command], {
        cwd: folder.path,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
      folder.path,
    );
  await using migrating = start('migrate');
  await using serving = start('serve');
  await besideBackup(opened, async () => {
    const { level, secondsMax, detail } = await serving.waitForRecord('migration_waits');
    assert.deepEqual([level, secondsMax], ['warn', 300]);
    assert.match(String(detail), /^the migration waits until it can lock its tables, .*; the time limit is 300 s$/);
    const line = await migrating.waitFor('line on standard error', () => /^.*\n/.exec(migrating.stderr)?.[0]);
    assert.equal(line.replace(/\d+(?= s have)/, 'N'), `keyreeve: ${String(detail)}, of which N s have passed\n`);
  });
  const { status, stdout } = await migrating.exited();
  assert.equal(status, 0);
  await serving.waitForRecord('listening');
  // One of the two applies them.
  const applied = `Applied 1 migration: ${later.missing.join()}.\n`;
  assert.equal(stdout, serving.records('migrated').length > 0 ? 'The schema is up to date.\n' : applied);
});
