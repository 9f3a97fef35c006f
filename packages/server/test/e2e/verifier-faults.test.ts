/** Faults of processes that only verify: what they answer afterwards. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { FaultProxy } from '../revocation-check/fault-proxy.ts';
import { makeCopy } from '../revocation-check/mutant-run.ts';
import { bearer, databaseIn, newProgram, startProgram } from './program.ts';
import {
  ended,
  forwardAt,
  killMain,
  pidOf,
  stopProcess,
  VerifyConnection,
  verifyUrlOf,
  withVerifier,
} from './verifier-kit.ts';

const publicUrl = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

/** Another file takes the path; a stopped process keeps the earlier one open. */
function replaceDatabase(folder: string): void {
  const path = databaseIn(folder);
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

testOnEach(
  'a stopped verifier accepts nothing after its main process was killed, the file replaced and a key deleted',
  async () => {
    await using place = await newPlace();
    using folder = newTempFolder();
    const environment = { ...publicUrl, ...(place.kind === 'sqlite' ? {} : place.environment) };
    await using first = await startProgram(folder.path, { ...environment, ...withVerifier });
    const { id, key, accessToken } = await first.newKey();
    using connection = new VerifyConnection(verifyUrlOf(first));
    assert.equal(await connection.forward(key), 200);
    const verifier = pidOf(first);
    await stopProcess(verifier);
    await killMain(first);
    if (place.kind === 'sqlite') {
      // The write-ahead log becomes part of the file.
      assert.equal((await first.command(['compact'])).status, 0);
      replaceDatabase(folder.path);
    }
    await using second = await startProgram(folder.path, environment);
    assert.equal((await second.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    const answers = [connection.forward(key), forwardAt(verifyUrlOf(first), key)];
    process.kill(verifier, 'SIGCONT');
    for (const status of await Promise.all(answers))
      assert.ok(status === undefined || status === 503 || status === 401, String(status));
    await ended(verifier);
  },
);

test('verifiers of a replaced database file end with the service and accept nothing', async () => {
  await using program = await newProgram({ ...withVerifier, KEYREEVE_DRAIN_SECONDS: '60' });
  const { key } = await program.newKey();
  using connection = new VerifyConnection(verifyUrlOf(program));
  assert.equal(await connection.forward(key), 200);
  rmSync(databaseIn(program.folder));
  await program.waitForRecord('database_replaced');
  await ended(pidOf(program));
  assert.equal(await connection.forward(key), undefined);
});

test('before the response to a deletion of unknown outcome, every verifier answers 503 for the key', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const database = { ...place.environment, KEYREEVE_DATABASE_URL: proxy.through(place.url) };
  await using program = await newProgram({ ...database, ...withVerifier, KEYREEVE_VERIFIERS: '2' });
  const { id, key, accessToken } = await program.newKey();
  const connections = Array.from({ length: 6 }, () => new VerifyConnection(verifyUrlOf(program)));
  for (const connection of connections) assert.equal(await connection.forward(key), 200);
  // The deletion never reaches the database, so a verifier that does not know of it would accept the key.
  proxy.cutCommits('before it is sent', { every: 1, statement: 'delete_api_key' });
  const deletion = await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken));
  assert.equal(deletion.status, 503, deletion.text);
  const during = await Promise.all(connections.map((connection) => connection.forward(key)));
  assert.deepEqual(new Set(during), new Set([503]));
  proxy.clearFaults();
  for (const connection of connections) connection[Symbol.dispose]();
});

test('a verifier that does not confirm a change of unknown outcome is killed and replaced before the response', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const database = { ...place.environment, KEYREEVE_DATABASE_URL: proxy.through(place.url) };
  await using program = await newProgram({ ...database, ...withVerifier });
  const { id, key, accessToken } = await program.newKey();
  const verifier = pidOf(program);
  await stopProcess(verifier);
  proxy.cutCommits('before it is sent', { every: 1, statement: 'delete_api_key' });
  const deletion = await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken));
  assert.equal(deletion.status, 503, deletion.text);
  assert.deepEqual(
    program.records('verifier_unresponsive').map(({ verifierPid }) => verifierPid),
    [verifier],
  );
  // The replacement knows the change from its start.
  assert.equal(await forwardAt(verifyUrlOf(program), key), 503);
  proxy.clearFaults();
});

test('after an upgrade in place, no verifier of the new program starts beside the earlier main process', async () => {
  using folder = newTempFolder();
  const { bin, environment } = makeCopy(folder.path, []);
  await using program = await newProgram({ ...environment, ...withVerifier }, [bin, 'serve']);
  const { key } = await program.newKey();
  const path = join(folder.path, 'packages/server/package.json');
  const before = readFileSync(path, 'utf8');
  const { version } = JSON.parse(before) as { version: string };
  writeFileSync(path, before.replace(`"version": "${version}"`, '"version": "999.0.0"'));
  process.kill(pidOf(program), 'SIGKILL');
  const { err } = await program.waitFor('a verifier that does not start', () =>
    program.records('verifier_ended').find((record) => record['err'] !== undefined),
  );
  const { message } = err as { message: string };
  assert.equal(message, 'another version of the program has replaced app/processes/verifier; restart the service');
  assert.equal(await forwardAt(program.url, key), 200);
  writeFileSync(path, before);
  assert.equal(await forwardAt(verifyUrlOf(program), key), 200);
});

const withoutSockets = { skip: process.platform === 'win32' };

test(
  'of main processes that start together with one unix socket, one gets it, and the next after its end',
  withoutSockets,
  async () => {
    using folder = newTempFolder();
    const path = join(folder.path, 'verify.sock');
    const socket = { KEYREEVE_VERIFY_SOCKET: path };
    const programs = await Promise.all(Array.from({ length: 4 }, () => newProgram(socket)));
    try {
      const haveIt = () => programs.filter((program) => program.records('verifier_listening').length > 0);
      const [first, ...others] = haveIt();
      assert.ok(first && others.length === 0);
      for (const program of programs)
        assert.equal(program.records('verify_socket_in_use').length, program === first ? 0 : 1);
      const { key } = await first.newKey();
      assert.equal(await forwardAt(`unix:${path}`, key), 200);
      await killMain(first);
      await until('another one has the socket', () => haveIt().length === 2);
      assert.equal(await forwardAt(`unix:${path}`, key), 401);
    } finally {
      for (const program of programs) await program[Symbol.asyncDispose]();
    }
  },
);

test('a socket that was in use and cannot be bound later: the log has the reason, once', withoutSockets, async () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'verify.sock');
  const lock = new DatabaseSync(`${path}.lock`);
  lock.exec('begin exclusive');
  await using program = await newProgram({ KEYREEVE_VERIFY_SOCKET: path });
  writeFileSync(path, '');
  lock.close();
  await program.waitForRecord('verify_socket_not_bound');
  rmSync(path);
  await program.waitForRecord('verifier_listening');
  const reasons = program.records('verify_socket_not_bound').map(({ err }) => (err as { message: string }).message);
  assert.deepEqual(reasons, [`cannot listen on ${path}: it is a file`]);
});
