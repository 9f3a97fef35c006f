/** Several workers: start, replacement after a crash, end. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Connection, connectionsTo, ended, pidsOf } from './worker-pool.ts';
import { HalfSent } from './half-sent.ts';
import { heldDrain, releaseDrain } from './held-drain-program.ts';
import { basic, databaseIn, goodPassword, newProgram, runProgram, startProgram, type Program } from './program.ts';
const two = { KEYREEVE_WORKERS: '2' };

/** A request whose connection is not idle afterwards. */
const closing = { connection: 'close' };
const events = (program: Program): unknown[] => program.records().map(({ event }) => event);

test('in an empty folder the supervisor creates the data once, and logs one record when all workers listen', async () => {
  using folder = newTempFolder();
  await using program = await startProgram(folder.path, two);
  assert.deepEqual(events(program), ['migrated', 'worker_listening', 'worker_listening', 'listening']);
  const [listening] = program.records('listening');
  assert.deepEqual([listening?.['workers'], listening?.['pid']], [2, program.child.pid]);
  assert.deepEqual(new Set(pidsOf(program).keys()), new Set([1, 2]));
  const keyFiles = readdirSync(join(folder.path, 'data')).filter((name) => name.includes('.master-key'));
  assert.deepEqual(keyFiles, ['keyreeve.db.master-key']);

  const connections = await connectionsTo(program);
  const keys = connections.map(async (it) => (await it.call('GET', '/.well-known/jwks.json')).json as { keys: [] });
  const [first, second] = await Promise.all(keys);
  assert.equal(first?.keys.length, 1);
  assert.deepEqual(second, first);
  const requests = program.records('request').map(({ worker, pid }) => [worker, pid]);
  assert.deepEqual(new Set(requests.map(String)), new Set([...pidsOf(program)].map(String)));
  for (const it of connections) it[Symbol.dispose]();
});

test('the supervisor reports a failed start once: a port in use with status 1, a wrong master key with status 78', async () => {
  await using program = await newProgram();
  const { port } = new URL(program.url);
  const environment = { ...two, KEYREEVE_PORT: port };
  assert.deepEqual(await runProgram(['serve'], { folder: program.folder, environment }), {
    status: 1,
    stdout: '',
    stderr: `keyreeve: listen EADDRINUSE: address already in use 127.0.0.1:${port}: another program uses this port; set KEYREEVE_PORT or KEYREEVE_ADMIN_PORT\n`,
  });
  const other = { ...two, KEYREEVE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url') };
  const { status, stdout, stderr } = await runProgram(['serve'], { folder: program.folder, environment: other });
  assert.deepEqual([status, stdout, stderr.split('\n').length], [78, '', 2]);
  assert.ok(stderr.startsWith(`keyreeve: the master key is not that of the database ${databaseIn(program.folder)} (`));
});

test('after SIGTERM it is not ready, every worker completes its requests, and all end with status 0 after the last one', async () => {
  await using program = await newProgram({ ...two, ...heldDrain });
  await program.signIn();
  const connections = await connectionsTo(program);
  const halves: HalfSent[] = [];
  for (const it of connections) {
    const { json } = await it.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    halves.push(new HalfSent(program, (json as { refreshToken: string }).refreshToken, it.agent));
  }
  const probes = await connectionsTo(program);
  const pids = [...pidsOf(program).values()];
  program.signal('SIGTERM');
  await program.waitForRecord('stopping');
  const notReady = async () => (await fetch(`${program.adminUrl}/health/ready`, { headers: closing })).status;
  assert.equal(await notReady(), 503);
  const states = await Promise.all(probes.map((it) => it.call('GET', '/health/ready')));
  assert.deepEqual(
    states.map(({ status }) => status),
    [503, 503],
  );
  for (const half of halves) {
    const [status, body] = await half.finish();
    assert.deepEqual([status, Object.keys(JSON.parse(body) as object)], [200, ['accessToken', 'refreshToken']]);
  }
  for (const it of [...connections, ...probes]) it[Symbol.dispose]();
  releaseDrain([program.child.pid, ...pids]);
  const { status, stderr } = await program.exited();
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(
    program.records('stopped').map(({ isDrained }) => isDrained),
    [true],
  );
  assert.deepEqual(
    program.records().filter(({ level }) => level === 'error'),
    [],
  );
  for (const pid of pids) await ended(pid);
});

test('workers end after their supervisor is killed, and the next supervisor can use the port', async () => {
  using folder = newTempFolder();
  await using first = await startProgram(folder.path, two);
  const pids = [...pidsOf(first).values()];
  const held = await Connection.to(first, 1);
  first.signal('SIGKILL');
  for (const pid of pids) await ended(pid);
  await assert.rejects(held.call('GET', '/health/live'));
  held[Symbol.dispose]();
  const { port } = new URL(first.url);
  await using second = await startProgram(folder.path, { ...two, KEYREEVE_PORT: port });
  assert.equal(second.url, first.url);
  assert.equal((await second.call('GET', '/health/ready')).status, 200);
});
