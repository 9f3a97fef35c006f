/** The PostgreSQL server of the tests: crash, pause, and its end with the test process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Client } from 'pg';
import { programMsMax } from '../time-limits.ts';
import { until } from '../until.ts';
import { runningProcesses } from './processes.ts';
import { PostgresServer } from './server.ts';

const module = new URL('./server.ts', import.meta.url).href;

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function rowsOf(url: string): Promise<unknown[]> {
  const client = await connect(url);
  try {
    return (await client.query('select n from t order by n')).rows;
  } finally {
    await client.end();
  }
}

const isRunning = (wanted: number): boolean => runningProcesses().some(({ pid }) => pid === wanted);

test('committed data is kept after a crash, and uncommitted data is lost', async () => {
  await using server = await PostgresServer.start({ durable: true });
  const { url } = await server.createDatabase();
  const client = await connect(url);
  await client.query('create table t (n int primary key)');
  await client.query('insert into t values (1)');
  await client.query('begin');
  await client.query('insert into t values (2)');
  const { pid } = server;
  await server.crash();
  assert.ok(pid !== undefined && !isRunning(pid));
  await assert.rejects(connect(url), { code: 'ECONNREFUSED' });
  await assert.rejects(client.query('commit'));
  await server.startAgain();
  assert.deepEqual(await rowsOf(url), [{ n: 1 }]);
  await server.restart();
  assert.deepEqual(await rowsOf(url), [{ n: 1 }]);
});

test('a paused server does not respond until it is resumed, on the same connections', async () => {
  await using server = await PostgresServer.start();
  const client = await connect(server.url());
  const { pid } = server;
  await server.pause();
  const states = runningProcesses().filter((one) => one.pid === pid || one.parentPid === pid);
  assert.ok(states.length > 2);
  assert.deepEqual(new Set(states.map(({ state }) => state)), new Set(['T']));
  const query = client.query('select 1 as n');
  server.resume();
  assert.deepEqual((await query).rows, [{ n: 1 }]);
  await client.end();
});

test('a wrong password is rejected', async () => {
  await using server = await PostgresServer.start();
  const url = new URL(server.url());
  url.password = 'wrong';
  await assert.rejects(connect(url.href), { code: '28P01' });
});

for (const state of ['running', 'paused', 'crashed'] as const) {
  test(`the processes and the folder of a ${state} server are removed after the test is killed`, async () => {
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', ownerOf(state)], {
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const { folder, pids } = JSON.parse(String(line)) as { folder: string; pids: number[] };
    assert.ok(existsSync(folder));
    assert.equal(pids.some(isRunning), state !== 'crashed');
    owner.kill('SIGKILL');
    await until('the folder is gone', () => !existsSync(folder));
    assert.deepEqual(pids.filter(isRunning), []);
  });
}

/** A program that prints its server's folder and processes, then waits for its end. */
const ownerOf = (state: 'running' | 'paused' | 'crashed'): string => `
  import { PostgresServer } from '${module}';
  import { familyOf } from '${new URL('./processes.ts', module).href}';
  const server = await PostgresServer.start();
  const pids = familyOf(server.pid).map(({ pid }) => pid);
  if ('${state}' === 'paused') await server.pause();
  if ('${state}' === 'crashed') await server.crash();
  console.log(JSON.stringify({ folder: server.folder, pids }));
  setInterval(() => undefined, 1_000);
`;

test('a server does not keep the test process running, and ends with it', async () => {
  const owner = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { PostgresServer } from '${module}'; console.log((await PostgresServer.start()).folder);`,
    ],
    { env: {}, stdio: ['ignore', 'pipe', 'inherit'], timeout: programMsMax },
  );
  const [[line], [status]] = (await Promise.all([once(owner.stdout, 'data'), once(owner, 'exit')])) as [
    [Buffer],
    [number | null],
  ];
  assert.equal(status, 0);
  await until('the folder is gone', () => !existsSync(String(line).trim()));
});
