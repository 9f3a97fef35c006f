/** Full disks: changes return 503, verifications continue, no acknowledged change is lost, and the service recovers. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newProgram } from './program.ts';
import { assertVerifiesAfterRestarts } from './full-disk-restart.ts';
import { assertChangesWait } from './full-disk-service.ts';
import { valuesOf } from './scrape.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

const skip = skipWithoutDisks();

test(
  'on a full disk, changes return 503 and verifications continue; with space again, each acknowledged change is in force',
  { skip },
  () => assertChangesWait(),
);

test('on a full disk, keys are accepted after each restart, also after a kill', { skip }, () =>
  assertVerifiesAfterRestarts(),
);

test(
  'a backup to a full disk fails with the reason, leaves no file, and is not recorded as a success',
  { skip },
  async () => {
    using disk = new SmallDisk();
    await using program = await newProgram();
    await program.newKey();
    disk.fill();
    const { status, stdout, stderr } = await program.command(['backup', '--to', join(disk.path, 'backup.gz')]);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(
      stderr,
      /^keyreeve: no backup was written to .*: ENOSPC: no space left on device.* Free space on its disk\.$/m,
    );
    assert.deepEqual(readdirSync(disk.path), ['filler']);
    assert.deepEqual(await valuesOf(program, 'keyreeve_backup_last_success_timestamp_seconds'), [0]);
  },
);
