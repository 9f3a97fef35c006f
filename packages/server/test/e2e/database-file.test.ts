/** The running service stops when its database file is replaced or removed, but not after a restore. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../test-kit/until.ts';
import { bearer, databaseIn, newProgram, type Program } from './program.ts';

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

for (const [name, change] of Object.entries(changes)) {
  test(`the service acknowledges no change and ends with status 1 after the database file was ${name}`, async () => {
    await using program = await newProgram();
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
  await using program = await newProgram();
  const { key } = await program.newKey();
  const backup = join(program.folder, 'backup');
  assert.equal((await program.command(['backup', '--to', backup])).status, 0);
  const restored = await program.command(['restore', '--from', backup, '--replace', '--accept-revival', '--yes']);
  assert.equal(restored.status, 0, restored.stderr);
  assert.equal(await statusOf(program, 'GET', '/auth/forward', key), 200);
  assert.equal((await program.stop()).status, 0);
  assert.deepEqual(program.records('database_replaced'), []);
});

test('a service whose usage file was removed continues, and counts what comes after', async () => {
  await using program = await newProgram();
  const { id, key } = await program.newKey();
  const path = `${databaseIn(program.folder)}.usage`;
  await until('the housekeeping has opened the file', () => existsSync(path));
  rmSync(path);
  assert.equal(await statusOf(program, 'GET', '/auth/forward', key), 200);
  assert.equal((await program.stop()).status, 0);
  const { status, stdout, stderr } = await program.command(['key', 'usage', String(id), '--json']);
  assert.equal(status, 0, stderr);
  const [{ accepted } = { accepted: 0 }] = JSON.parse(stdout) as { accepted: number }[];
  assert.equal(accepted, 1);
  assert.deepEqual(
    program.records('usage_file_renewed').map(({ reason }) => reason),
    ['missing'],
  );
});
