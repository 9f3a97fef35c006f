/** A disk that an error has made read-only: changes return 503, verifications continue, and commands name the reason. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { startProgram } from './program.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

const skip = skipWithoutDisks();
const environment = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

test(
  'doctor reports a database that accepts no changes, and backup a deletion journal on a read-only disk',
  { skip },
  async () => {
    using disk = new SmallDisk();
    using folder = newTempFolder();
    await using program = await startProgram(disk.path, environment);
    disk.makeReadOnly();
    const doctor = await program.command(['doctor', '--json']);
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; state: string; detail: string }[] };
    const failed = checks.filter(({ state }) => state === 'failed');
    assert.deepEqual([doctor.status, failed.map(({ name }) => name)], [1, ['writes']]);
    assert.match(failed[0]?.detail ?? '', /accepts no changes, so no key can be deleted/);
    const backup = await program.command(['backup', '--to', join(folder.path, 'backup')]);
    assert.deepEqual([backup.status, backup.stdout], [1, '']);
    // The service creates and writes the second file in the background. How far it got before the disk became read-only decides
    // whether another process can read that file, so this test accepts both.
    const lack = '(?:keyreeve: the backup lacks usage .* cannot be read: .*\\n)?';
    const failure =
      'keyreeve: the deletion journal .* is not complete\\. .* the new backup .*/backup, .* EROFS: .* The disk is read-only: .*\\n';
    assert.match(backup.stderr, new RegExp(`^${lack}${failure}$`));
  },
);
