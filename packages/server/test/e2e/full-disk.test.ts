/** Full disks: changes return 503, verifications continue, no acknowledged change is lost, and the service recovers. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../test-kit/until.ts';
import { bearer, newProgram, startProgram, type Key } from './program.ts';
import { assertVerifiesAfterRestarts } from './full-disk-restart.ts';
import { assertChangesWait, createUntilRejected, publicUrl } from './full-disk-service.ts';
import { valuesOf } from './scrape.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';
import { forwardAt, VerifyConnection, verifyUrlOf, withVerifier } from './verifier-kit.ts';

const skip = skipWithoutDisks();

test(
  'on a full disk, changes return 503 and verifications continue; with space again, each acknowledged change is in force',
  { skip },
  () => assertChangesWait(),
);

test(
  'after a deletion of unknown outcome on a full disk, every verifier answers 503 for the key until it is deleted',
  { skip },
  async () => {
    using disk = new SmallDisk();
    await using program = await startProgram(disk.path, { ...publicUrl, ...withVerifier, KEYREEVE_VERIFIERS: '2' });
    const { accessToken } = await program.signIn();
    const [doomed, other] = [await program.createKey(accessToken, 'doomed'), await program.createKey(accessToken)];
    const connections = Array.from({ length: 6 }, () => new VerifyConnection(verifyUrlOf(program)));
    const statuses = async ({ key }: Key) => new Set(await Promise.all(connections.map((each) => each.forward(key))));
    assert.deepEqual(await statuses(doomed), new Set([200]));
    disk.fill();
    await createUntilRejected(program, accessToken);
    const deletion = await program.call('DELETE', `/auth/api-keys/${doomed.id}`, bearer(accessToken));
    assert.equal(deletion.status, 503, deletion.text);
    assert.deepEqual([await statuses(doomed), await statuses(other)], [new Set([503]), new Set([200])]);
    disk.free();
    await until('the deletion is durable', async () => (await forwardAt(verifyUrlOf(program), doomed.key)) === 401);
    assert.deepEqual(await statuses(doomed), new Set([401]));
    for (const connection of connections) connection[Symbol.dispose]();
  },
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
