/** A worker that opens another database file than its supervisor never serves. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Connection, pidOf } from './worker-pool.ts';
import { bearer, runProgram, startProgram } from './program.ts';

/** A module that makes each worker open a copy of the database, like a mount that the supervisor does not have. */
function misleadWorkers(folder: string): string {
  const file = join(folder, 'mislead.mjs');
  const url = `sqlite:${join(folder, 'copy', 'keyreeve.db')}`;
  writeFileSync(
    file,
    `import cluster from 'node:cluster';
import { existsSync } from 'node:fs';

if (cluster.isWorker && existsSync(${JSON.stringify(join(folder, 'copy'))})) process.env.KEYREEVE_DATABASE_URL = ${JSON.stringify(url)};`,
  );
  return file;
}

test('the service does not start if a worker opens another database file than the supervisor', async () => {
  using folder = newTempFolder();
  const environment = { KEYREEVE_WORKERS: '2', NODE_OPTIONS: `--import=${misleadWorkers(folder.path)}` };
  {
    await using program = await startProgram(folder.path, environment);
    await program.signIn();
    assert.equal((await program.stop()).status, 0);
  }
  cpSync(join(folder.path, 'data'), join(folder.path, 'copy'), { recursive: true });
  const { status, stdout, stderr } = await runProgram(['serve'], { folder: folder.path, environment });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /copy.keyreeve\.db was replaced or removed while it was open/);
  assert.ok(!stdout.includes('listening'), stdout);
});

test('a replacement worker that opens another database file never listens, and the service ends', async () => {
  using folder = newTempFolder();
  const environment = { KEYREEVE_WORKERS: '2', NODE_OPTIONS: `--import=${misleadWorkers(folder.path)}` };
  await using program = await startProgram(folder.path, environment);
  const { key } = await program.newKey();
  cpSync(join(folder.path, 'data'), join(folder.path, 'copy'), { recursive: true });
  const [before, survivor] = [pidOf(program, 2), await Connection.to(program, 1)];
  process.kill(before, 'SIGKILL');
  await program.waitFor('an attempt', () => program.records('worker_ended')[1]);
  assert.equal((await survivor.call('GET', '/auth/forward', bearer(key))).status, 200);
  survivor[Symbol.dispose]();
  const { status, stderr } = await program.exited();
  assert.equal(status, 1);
  assert.match(stderr, /copy.keyreeve\.db was replaced or removed while it was open/);
  assert.equal(pidOf(program, 2), before, 'no replacement has listened');
});
