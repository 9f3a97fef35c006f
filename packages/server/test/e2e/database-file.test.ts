/** The running service stops when its database file is replaced or removed, but not after a restore. */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Connection, pidOf } from './worker-pool.ts';
import { bearer, databaseIn, newProgram, runProgram, startProgram, type Program } from './program.ts';

const changes: Readonly<Record<string, (path: string) => void>> = {
  replaced: (path) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  },
  removed: (path) => rmSync(path),
};

/** @returns undefined if the connection was closed without a response */
async function statusOf(program: Program, method: string, path: string, token: string): Promise<number | undefined> {
  try {
    return (await program.call(method, path, bearer(token))).status;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

for (const workers of ['1', '2']) {
  for (const [name, change] of Object.entries(changes)) {
    test(`${workers === '1' ? 'one process' : 'two workers'} acknowledge no change and the service ends with status 1 after the database file was ${name}`, async () => {
      await using program = await newProgram({ KEYREEVE_WORKERS: workers });
      const { id, accessToken } = await program.newKey();
      const path = databaseIn(program.folder);
      change(path);
      const deletion = await statusOf(program, 'DELETE', `/auth/api-keys/${id}`, accessToken);
      assert.ok(deletion === undefined || deletion === 503, `the response to the deletion is ${deletion}`);
      const { status } = await program.exited();
      assert.equal(status, 1);
      const records = program.records('database_replaced');
      assert.deepEqual(
        records.map(({ level, path: of }) => [level, of]),
        [['fatal', path]],
      );
      assert.match(String(records[0]?.['detail']), /was replaced or removed while it was open; put the right database/);
      assert.deepEqual(program.records('crashed'), []);
    });
  }
}

test('verifications return 503 after the replacement of the file was detected', async () => {
  await using program = await newProgram({ KEYREEVE_DRAIN_SECONDS: '60' });
  const { key } = await program.newKey();
  assert.equal(await statusOf(program, 'GET', '/auth/forward', key), 200);
  rmSync(databaseIn(program.folder));
  await program.waitForRecord('database_replaced');
  assert.equal(await statusOf(program, 'GET', '/auth/forward', key), 503);
  // A second SIGTERM ends it without a drain.
  program.signal('SIGTERM');
  assert.equal((await program.exited()).status, 1);
});

test('a backup and a restore do not stop the running service', async () => {
  await using program = await newProgram({ KEYREEVE_WORKERS: '2' });
  const { key } = await program.newKey();
  const backup = join(program.folder, 'backup');
  assert.equal((await program.command(['backup', '--to', backup])).status, 0);
  const restored = await program.command(['restore', '--from', backup, '--replace', '--accept-revival', '--yes']);
  assert.equal(restored.status, 0, restored.stderr);
  assert.equal(await statusOf(program, 'GET', '/auth/forward', key), 200);
  assert.equal((await program.stop()).status, 0);
  assert.deepEqual(program.records('database_replaced'), []);
});

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
