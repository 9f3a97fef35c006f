/** The fault proxy on connections to a real PostgreSQL. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Client } from 'pg';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { FaultProxy } from './fault-proxy.ts';
import { MessageReader } from './postgres-messages.ts';

async function newProxiedDatabase() {
  const database = await (await sharedPostgres()).createDatabase();
  const { url } = database;
  const proxy = await FaultProxy.start(url);
  const clients: Client[] = [];
  const connect = async (databaseUrl = proxy.through(url)): Promise<Client> => {
    const client = new Client({ connectionString: databaseUrl });
    client.on('error', () => undefined);
    clients.push(client);
    await client.connect();
    return client;
  };
  const direct = await connect(url);
  await direct.query('create table t (n integer primary key)');
  const rows = async (): Promise<number[]> =>
    (await direct.query<{ n: number }>('select n from t order by n')).rows.map(({ n }) => n);
  return {
    proxy,
    connect,
    rows,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client.end().catch(() => undefined);
      await proxy[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

const insert = (client: Client, n: number): Promise<unknown> =>
  client.query({ name: 'insert_number', text: 'insert into t values ($1)', values: [n] });

async function insertAndCommit(client: Client, n: number): Promise<void> {
  await client.query('begin');
  await insert(client, n);
  await client.query('commit');
}

test('a connection that is cut before the commit is sent commits nothing, and one cut before the response has committed', async () => {
  await using database = await newProxiedDatabase();
  const { proxy, connect, rows } = database;
  await insertAndCommit(await connect(), 1);
  proxy.cutCommits('before it is sent');
  await assert.rejects(insertAndCommit(await connect(), 2));
  assert.deepEqual(await rows(), [1]);
  proxy.cutCommits('before its response');
  await assert.rejects(insertAndCommit(await connect(), 3));
  assert.deepEqual(await rows(), [1, 3]);
  assert.deepEqual(proxy.counts.commitsCut, { 'before it is sent': 1, 'before its response': 1 });
  proxy.clearFaults();
  await insertAndCommit(await connect(), 4);
  assert.deepEqual(await rows(), [1, 3, 4]);
});

test('only commits of transactions with the named statement are cut, one in the given number', async () => {
  await using database = await newProxiedDatabase();
  const { proxy, connect, rows } = database;
  proxy.cutCommits('before it is sent', { statement: 'insert_number', every: 2 });
  const client = await connect();
  await client.query('begin');
  await client.query('insert into t values (1)');
  await client.query('commit');
  await assert.rejects(insertAndCommit(client, 2));
  await insertAndCommit(await connect(), 3);
  await assert.rejects(insertAndCommit(await connect(), 4));
  assert.deepEqual(await rows(), [1, 3]);
});

test('responses are delayed in order, and no data is lost', async () => {
  await using database = await newProxiedDatabase();
  const { proxy, connect } = database;
  const client = await connect();
  proxy.delayMs = 50;
  const first = client.query('select 1 as n');
  const second = client.query(`select repeat('x', 300000) as n`);
  assert.deepEqual((await first).rows, [{ n: 1 }]);
  proxy.clearFaults();
  assert.deepEqual((await second).rows, [{ n: 'x'.repeat(300_000) }]);
  assert.ok(proxy.counts.delayed >= 1);
});

test('a black hole keeps connections open and drops all data, until the faults are cleared', async () => {
  await using database = await newProxiedDatabase();
  const { proxy, connect, rows } = database;
  const client = await connect();
  proxy.isBlackHole = true;
  const dropped = insert(client, 1);
  dropped.catch(() => undefined);
  const direct = rows();
  assert.equal(await Promise.race([dropped.catch(() => 'failed'), direct.then(() => 'pending')]), 'pending');
  proxy.clearFaults();
  await assert.rejects(dropped);
  await insertAndCommit(await connect(), 2);
  assert.deepEqual(await rows(), [2]);
  assert.ok(proxy.counts.dropped > 0);
});

test('new connections are refused while open ones stay usable, until they are cut', async () => {
  await using database = await newProxiedDatabase();
  const { proxy, connect, rows } = database;
  const client = await connect();
  proxy.refuse();
  await assert.rejects(connect());
  await insertAndCommit(client, 1);
  proxy.cutAll();
  await assert.rejects(insertAndCommit(client, 2));
  proxy.clearFaults();
  await insertAndCommit(await connect(), 3);
  assert.deepEqual(await rows(), [1, 3]);
  assert.deepEqual([proxy.counts.refused, proxy.counts.cut], [1, 1]);
});

test('messages are read completely from chunks of any size', () => {
  const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);
  const query = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');
  const sync = Buffer.from('S\0\0\0\x04', 'latin1');
  const all = Buffer.concat([startup, query, sync, query]);
  for (let round = 0; round < 200; round++) {
    const reader = new MessageReader({ hasStartup: true });
    const found = [];
    for (let at = 0; at < all.length;) {
      const end = at + 1 + ((randomBytes(1)[0] ?? 0) % 9);
      found.push(...reader.read(all.subarray(at, end)));
      at = end;
    }
    assert.deepEqual(
      found.map(({ type, bytes }) => [type, bytes]),
      [
        ['', startup],
        ['Q', query],
        ['S', sync],
        ['Q', query],
      ],
    );
  }
});
