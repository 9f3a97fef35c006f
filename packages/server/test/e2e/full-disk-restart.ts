/** Restarts of a service whose disk is full. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { until } from '../../test-kit/until.ts';
import { reservedBytes, reservedPathOf } from '../../src/app/installation/reserved-space.ts';
import { codeOf, publicUrl, readinessOf, statusOf } from './full-disk-service.ts';
import { bearer, databaseIn, startProgram, type Key, type Program } from './program.ts';
import { SmallDisk } from './small-disk.ts';

const restarts = 4;

/** After each restart, keys are accepted, and changes wait. With space again, changes succeed, and space is reserved again. */
export async function assertVerifiesAfterRestarts(): Promise<void> {
  using disk = new SmallDisk();
  const reserved = (): number => statSync(reservedPathOf(databaseIn(disk.path))).size;
  let key: Key;
  let accessToken: string;
  {
    await using program = await startProgram(disk.path, publicUrl);
    ({ accessToken } = await program.signIn());
    key = await program.createKey(accessToken);
    assert.equal(reserved(), reservedBytes);
    disk.fill();
    await untilRejected(program, accessToken);
    assert.equal(await statusOf(program, key), 200);
  }
  for (let restart = 0; restart < restarts; restart++) {
    await using program = await startProgram(disk.path, publicUrl);
    assert.equal(await statusOf(program, key), 200, `restart ${restart}`);
    assert.equal(await statusOf(program, { ...key, key: `${key.key}x` }), 401);
    // What the start has released is not for others.
    await untilRejected(program, accessToken);
    disk.fill();
    if (restart % 2 === 0) program.child.kill('SIGKILL');
  }
  disk.free();
  await using program = await startProgram(disk.path, publicUrl);
  await until('commits succeed', async () => ((await readinessOf(program)) as { writes: boolean }).writes);
  await program.createKey(accessToken, 'after');
  assert.equal(reserved(), reservedBytes);
}

/** The write-ahead log can have space that is allocated already. */
async function untilRejected(program: Program, accessToken: string): Promise<void> {
  for (let count = 0; count < 90; count++) {
    const nickname = `key ${process.hrtime.bigint()}`;
    const response = await program.call('POST', '/auth/api-keys', bearer(accessToken), { nickname });
    if (response.status !== 201) return assert.deepEqual([response.status, codeOf(response)], [503, 'unavailable']);
  }
  throw new Error('the disk does not become full');
}
