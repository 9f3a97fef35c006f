/** Full disks: the cases beside those of full-disk.test.ts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { bearer, environmentFor, keyreeveBin, newProgram, Program } from './program.ts';
import { codeOf, publicUrl, readinessOf, statusOf } from './full-disk-service.ts';
import { valuesOf } from './scrape.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

const skip = skipWithoutDisks();

test(
  'on a full disk of the deletion journal, a deletion takes effect, its client gets a 503, and the journal is completed later',
  { skip },
  async () => {
    using disk = new SmallDisk();
    const journal = join(disk.path, 'journal');
    await using program = await newProgram({ ...publicUrl, KEYREEVE_DELETION_JOURNAL: journal });
    const { accessToken } = await program.signIn();
    const [kept, removed] = [await program.createKey(accessToken), await program.createKey(accessToken, 'removed')];
    assert.equal((await program.command(['backup', '--to', 'before.gz'])).status, 0);

    disk.fill();
    const response = await program.call('DELETE', `/auth/api-keys/${removed.id}`, bearer(accessToken));
    assert.deepEqual([response.status, codeOf(response)], [503, 'unavailable']);
    assert.match(response.text, /committed, but the deletion journal can’t be written/);
    assert.deepEqual([await statusOf(program, kept), await statusOf(program, removed)], [200, 401]);
    assert.deepEqual(await readinessOf(program), { status: 'ok', writes: true });
    const [lag = 0] = await valuesOf(program, 'keyreeve_deletion_journal_lag_seconds');
    assert.ok(lag > 0);
    await program.waitForRecord('deletion_journal_failed');

    disk.free();
    await until('the journal is complete', async () =>
      (await valuesOf(program, 'keyreeve_deletion_journal_lag_seconds')).every((seconds) => seconds === 0),
    );
    const restored = await program.command(['restore', '--from', 'before.gz', '--replace', '--yes', '--json']);
    assert.equal(restored.status, 0, restored.stderr);
    assert.deepEqual([await statusOf(program, kept), await statusOf(program, removed)], [200, 401]);
  },
);

test('on a full disk of the log, requests continue, and records that wait are written later', { skip }, async () => {
  using disk = new SmallDisk();
  using folder = newTempFolder();
  const path = join(disk.path, 'log');
  const log = openSync(path, 'a');
  const child = spawn(process.execPath, [keyreeveBin, 'serve'], {
    cwd: folder.path,
    // At the default level, repetitions are only counted.
    env: environmentFor(folder.path, { KEYREEVE_LOG_LEVEL: 'debug' }),
    stdio: ['ignore', log, 'pipe'],
  });
  closeSync(log);
  await using program = new Program(child, folder.path);
  const readLog = (): void => void (program.stdout = readFileSync(path, 'utf8'));
  await until('the service listens', () => {
    readLog();
    return program.records('listening').length > 0;
  });
  const before = readFileSync(path, 'utf8').length;
  disk.fill();
  // Each request writes a record of more than 100 bytes, and the file ends within a block of 4 KiB.
  for (let count = 0; count < 100; count++)
    assert.equal((await program.call('GET', '/auth/api-keys', bearer('unknown'))).status, 401);
  assert.ok(readFileSync(path, 'utf8').length < before + 8_192);
  disk.free();
  assert.equal((await program.stop()).status, 0, program.stderr);
  readLog();
  assert.equal(program.records('refused').length, 100);
  assert.equal(program.records('stopped').length, 1);
  assert.deepEqual([program.records('crashed'), program.stderr], [[], '']);
});
