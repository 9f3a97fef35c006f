/** Connections to PostgreSQL: lost ones, several servers, old servers, search paths, sign-ins that are bound to TLS, new secrets. */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { newPlace, testKeys } from '../../../../test-kit/new-db.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { enableTls } from '../../../../test-kit/postgres/tls.ts';
import { databaseWaits } from '../../../../test-kit/time-limits.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { tlsPath } from '../../../../test-kit/tls.ts';
import { until } from '../../../../test-kit/until.ts';
import { FaultProxy } from '../../../../test/revocation-check/fault-proxy.ts';
import { DomainError } from '../../errors.ts';
import { openDatabase } from '../database.ts';
import type { Db } from '../db.ts';
import { PostgresServers } from '../postgres-servers.ts';
import { parsePostgresUrl, type PostgresLocation } from '../postgres-url.ts';
import { sql } from '../sql.ts';

const one = sql<{ one: number }>('test_one', 'select 1 as one');

async function onUrl(url: string, prove: (db: Db) => Promise<void>): Promise<void> {
  const db = await openDatabase(databaseUrl(url), testKeys.auditChain);
  try {
    await prove(db);
  } finally {
    await db.close();
  }
}

/** The error of a database that can't be used has the reason as its cause. */
const isBecause =
  (reason: RegExp) =>
  (error: unknown): boolean =>
    error instanceof DomainError && error.code === 'unavailable' && reason.test(String(error.cause));

const withParameters = (url: string, parameters: Readonly<Record<string, string>>): string =>
  `${url}?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;

test('reads succeed after a network has forgotten all idle connections', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  await onUrl(proxy.through(place.url), async (db) => {
    const reads = (): Promise<unknown[]> =>
      Promise.all([
        ...Array.from({ length: 6 }, () => db.get(one)),
        ...Array.from({ length: 4 }, () => db.all(one, [], { isShared: true })),
      ]);
    await reads();
    for (let round = 0; round < 3; round++) {
      proxy.forgetAll();
      assert.deepEqual(await reads(), [
        ...Array.from({ length: 6 }, () => ({ one: 1 })),
        ...Array.from({ length: 4 }, () => [{ one: 1 }]),
      ]);
    }
    assert.ok(proxy.counts.cut >= 6, `${proxy.counts.cut} connections broke`);
    assert.equal(db.times.failedReads, 0);
  });
});

test('reads succeed after a network has forgotten all idle connections without a message', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const location = databaseUrl(proxy.through(place.url)) as PostgresLocation;
  // The first attempt ends soon after this time, and the second one has long.
  const waits = { ...databaseWaits, statementMsMax: limits.postgresStatementMsMax };
  const db = await openDatabase({ ...location, waits }, testKeys.auditChain);
  try {
    const reads = (): Promise<unknown[]> => Promise.all([db.get(one), db.all(one, [], { isShared: true })]);
    proxy.forgetAll('silent');
    assert.deepEqual(await reads(), [{ one: 1 }, [{ one: 1 }]]);
    assert.ok(proxy.counts.dropped > 0);
    assert.equal(db.times.failedReads, 0);
  } finally {
    await db.close();
  }
});

test('a read is repeated once, and a statement that writes is not', async () => {
  await using place = await newPlace('postgres');
  await new PostgresDatabases(place.url).run('create table things (id integer)');
  // Each ends its own connection, in the way of a server that shuts down.
  const end = sql<object>('test_end', 'select pg_terminate_backend(pg_backend_pid())');
  const insertAndEnd = sql<object>(
    'test_insert_and_end',
    'with added as (insert into things values (1) returning 1) select pg_terminate_backend(pg_backend_pid()) from added',
  );
  await using proxy = await FaultProxy.start(place.url);
  await onUrl(proxy.through(place.url), async (db) => {
    const connectionsOf = async (read: Promise<unknown>): Promise<number> => {
      const before = proxy.counts.connections;
      await assert.rejects(read, isBecause(/terminat/));
      return proxy.counts.connections - before;
    };
    assert.equal(await connectionsOf(db.get(end)), 1);
    await db.get(one);
    assert.equal(await connectionsOf(db.get(insertAndEnd)), 0);
    assert.equal(db.times.failedReads, 2);
  });
});

test('each connection sends keepalive messages before networks forget it', async (context) => {
  await using place = await newPlace('postgres');
  const keepAlive = context.mock.method(Socket.prototype, 'setKeepAlive');
  await onUrl(place.url, async (db) => {
    await Promise.all([db.get(one), db.all(one, [], { isShared: true })]);
    const calls = keepAlive.mock.calls.map((call) => call.arguments as unknown[]);
    assert.ok(calls.length >= 3);
    for (const call of calls) assert.deepEqual(call, [true, 30_000]);
  });
  // Azure forgets connections first, after 4 minutes.
  assert.ok(limits.postgresKeepAliveSeconds < 240);
});

test('a server older than PostgreSQL 15 is refused', async () => {
  await using place = await newPlace('postgres');
  const direct = new PostgresDatabases(place.url);
  // This database looks like one of another version to a client that reads the setting.
  await direct.run(`create function current_setting(name text) returns text language sql as $$
    select case name when 'server_version_num' then '140020' when 'server_version' then '14.20'
      else pg_catalog.current_setting(name) end $$`);
  await direct.run(`alter database ${new URL(place.url).pathname.slice(1)} set search_path = public, pg_catalog`);
  await assert.rejects(
    openDatabase(databaseUrl(place.url), testKeys.auditChain),
    isBecause(/the server is PostgreSQL 14\.20, but Keyreeve needs version 15 or newer/),
  );
});

test('the tables are in the schema that the database URL names', async () => {
  await using place = await newPlace('postgres');
  const direct = new PostgresDatabases(place.url);
  await direct.run('create schema auth');
  await direct.run('create schema "My one"');
  const current = sql<{ schema: string }>('test_schema', 'select current_schema() as schema');
  const cases: readonly (readonly [parameters: Readonly<Record<string, string>>, schema: string])[] = [
    [{ options: '-c search_path=auth' }, 'auth'],
    [{ schema: 'My one' }, 'My one'],
    [{}, 'public'],
  ];
  for (const [parameters, schema] of cases)
    await onUrl(withParameters(place.url, parameters), async (db) => {
      assert.deepEqual(await db.get(current), { schema });
      assert.deepEqual(await db.all(current, [], { isShared: true }), [{ schema }]);
      assert.deepEqual(await db.transaction((tx) => tx.get(current)), { schema });
    });
});

test('parameters of the database URL do not change the limits of the sessions', async () => {
  await using place = await newPlace('postgres');
  const parameters = { application_name: 'other', connect_timeout: '600', keepalives: '0' };
  const session = sql<{ name: string; ms: string }>(
    'test_session',
    `select current_setting('application_name') as name, current_setting('statement_timeout') as ms`,
  );
  await onUrl(withParameters(place.url, parameters), async (db) =>
    assert.deepEqual(await db.get(session), {
      name: 'keyreeve writer',
      ms: `${limits.postgresStatementMsMax / 1000}s`,
    }),
  );
});

test('of several servers, the primary is used: not one that is down, nor a standby, also after a failover', async () => {
  await using primary = await PostgresServer.start();
  await using standby = await PostgresServer.startStandbyOf(primary);
  const { url } = await primary.createDatabase();
  const [own, other] = [new URL(url), new URL(standby.url())];
  const hosts = [`127.0.0.1:${await freePort()}`, other.host, own.host];
  await onUrl(url.replace(own.host, hosts.join(',')), async (db) => {
    const port = sql<{ port: number }>('test_port', `select current_setting('port')::int as port`);
    const reads = (): Promise<unknown[]> => Promise.all([db.get(port), db.transaction((tx) => tx.get(port))]);
    const shared = async (): Promise<unknown> => (await db.all(port, [], { isShared: true }))[0];
    const ofOwn = { port: Number(own.port) };
    assert.deepEqual([...(await reads()), await shared()], [ofOwn, ofOwn, ofOwn]);
    await primary.stop();
    await new PostgresDatabases(standby.url()).run('select pg_promote()');
    // Commits would wait for a standby.
    await new PostgresDatabases(standby.url()).run(`alter system set synchronous_standby_names = ''`);
    await new PostgresDatabases(standby.url()).run('select pg_reload_conf()');
    const ofOther = { port: Number(other.port) };
    await until('the new primary is used', async () => {
      const found = await reads().catch((error: unknown) => [error]);
      return JSON.stringify(found) === JSON.stringify([ofOther, ofOther]);
    });
    // The earlier primary runs again, with its old data.
    await primary.startAgain();
    for (let round = 0; round < 3; round++)
      assert.deepEqual([...(await reads()), await shared()], [ofOther, ofOther, ofOther]);
  });
});

test('connections to an earlier primary are not used once another server is the primary', () => {
  const servers = new PostgresServers(parsePostgresUrl('postgres://keyreeve@127.0.0.1:1,127.0.0.1:2/auth'));
  const client = (port: number) => ({ host: '127.0.0.1', port }) as Parameters<typeof servers.accepted>[0];
  servers.accepted(client(1));
  assert.deepEqual([servers.isOfPrimary(client(1)), servers.next.port], [true, 1]);
  servers.failed(servers.next);
  // The other one may be a standby.
  assert.deepEqual([servers.isOfPrimary(client(1)), servers.next.port], [true, 2]);
  servers.accepted(client(2));
  assert.deepEqual(
    [servers.isOfPrimary(client(1)), servers.isOfPrimary(client(2)), servers.next.port],
    [false, true, 2],
  );
});

test('the sign-in is bound to the certificate of the server where the database URL requires it', async () => {
  await using server = await PostgresServer.start();
  await enableTls(server);
  const { url } = await server.createDatabase();
  const parameters = { sslmode: 'require', channel_binding: 'require' };
  await onUrl(withParameters(url, parameters), async (db) => assert.deepEqual(await db.get(one), { one: 1 }));

  await new PostgresDatabases(server.url()).run(`create role plain login password 'plain'`);
  for (const method of ['password', 'trust']) {
    const rules = join(server.folder, 'data', 'pg_hba.conf');
    writeFileSync(rules, `host all plain all ${method}\n${readFileSync(rules, 'utf8')}`);
    await server.restart();
    const other = new URL(withParameters(url, parameters));
    other.username = 'plain';
    other.password = 'plain';
    await assert.rejects(
      openDatabase(databaseUrl(other.href), testKeys.auditChain),
      isBecause(/channel_binding=require, but the server does not offer SCRAM-SHA-256-PLUS/),
    );
    other.searchParams.delete('channel_binding');
    await onUrl(other.href, async (db) => assert.deepEqual(await db.get(one), { one: 1 }));
  }
});

test('the client has the certificate of the database URL, and reads a new one for each connection', async () => {
  await using server = await PostgresServer.start();
  await enableTls(server);
  const { url } = await server.createDatabase();
  const rules = join(server.folder, 'data', 'pg_hba.conf');
  writeFileSync(rules, `hostssl all all all scram-sha-256 clientcert=verify-ca\n${readFileSync(rules, 'utf8')}`);
  appendFileSync(join(server.folder, 'data', 'postgresql.conf'), `ssl_ca_file = 'server.crt'\n`);
  using folder = newTempFolder();
  const [sslcert, sslkey] = [join(folder.path, 'client.crt'), join(folder.path, 'client.key')];
  copyFileSync(tlsPath('server.crt'), sslcert);
  copyFileSync(tlsPath('server.key'), sslkey);
  chmodSync(sslkey, 0o600);
  const own = withParameters(url, { sslmode: 'require', sslcert, sslkey });
  await server.restart();
  await onUrl(own, async (db) => {
    assert.deepEqual(await db.get(one), { one: 1 });
    await assert.rejects(
      openDatabase(databaseUrl(withParameters(url, { sslmode: 'require' })), testKeys.auditChain),
      isBecause(/certificate/),
    );
  });
});

test('a file of the database URL that cannot be read is named, with its parameter', async () => {
  await using place = await newPlace('postgres');
  using folder = newTempFolder();
  const [missing, key] = [join(folder.path, 'none.pem'), join(folder.path, 'key.pem')];
  const { crt } = { crt: tlsPath('server.crt') };
  writeFileSync(key, 'readable by all', { mode: 0o644 });
  const cases: readonly (readonly [parameters: Readonly<Record<string, string>>, reason: RegExp])[] = [
    [{ sslmode: 'verify-full', sslrootcert: missing }, /the sslrootcert \S+none\.pem can't be read \(ENOENT\)/],
    [{ sslmode: 'require', sslcert: missing, sslkey: key }, /the sslcert \S+none\.pem can't be read \(ENOENT\)/],
    [{ sslmode: 'require', sslcert: crt, sslkey: missing }, /the sslkey \S+none\.pem can't be read/],
    [{ sslmode: 'require', sslcert: crt, sslkey: key }, /the sslkey \S+key\.pem can be read by others/],
  ];
  for (const [parameters, reason] of cases)
    await assert.rejects(
      openDatabase(databaseUrl(withParameters(place.url, parameters)), testKeys.auditChain),
      isBecause(reason),
    );
});

test('a private authority is trusted if the database URL names no other', () => {
  using folder = newTempFolder();
  const [privateCa, other] = ['private', 'other'].map((name) => {
    const path = join(folder.path, name);
    writeFileSync(path, name);
    return path;
  });
  const trusted = (parameters: string): unknown => {
    const location = parsePostgresUrl(`postgres://keyreeve@db/auth${parameters}`);
    const { ssl } = new PostgresServers({ ...location, privateCa }).settings();
    return typeof ssl === 'object' && [ssl.ca, ssl.rejectUnauthorized];
  };
  assert.deepEqual(['', '?sslmode=verify-ca', `?sslrootcert=${other}`, '?sslrootcert=system'].map(trusted), [
    ['private', true],
    ['private', true],
    ['other', true],
    [undefined, true],
  ]);
  assert.throws(
    () => new PostgresServers({ ...parsePostgresUrl('postgres://keyreeve@db/auth'), privateCa: '/none.pem' }),
    /^Error: the KEYREEVE_DATABASE_CA \/none\.pem can't be read \(ENOENT\)$/,
  );
});

test('new connections have the certificates and the password of now, and keep the last ones while these cannot be read', () => {
  using folder = newTempFolder();
  const ca = join(folder.path, 'ca.pem');
  writeFileSync(ca, 'first');
  let url = `postgres://keyreeve:old@db/auth?sslrootcert=${ca}`;
  const servers = new PostgresServers({
    ...parsePostgresUrl(url),
    latest: () => (url.startsWith('sqlite:') ? { kind: 'sqlite' } : parsePostgresUrl(url)),
  });
  const now = (): unknown[] => {
    const { user, password, ssl, host } = servers.settings();
    return [host, user, password, typeof ssl === 'object' && ssl.ca];
  };
  assert.deepEqual(now(), ['db', 'keyreeve', 'old', 'first']);
  writeFileSync(ca, 'second');
  url = url.replace('keyreeve:old', 'other:new');
  assert.deepEqual(now(), ['db', 'other', 'new', 'second']);
  writeFileSync(ca, 'third');
  // Of another server, of another database, and not valid.
  for (const wrong of [
    'postgres://a:b@other/auth',
    'postgres://a:b@db/other',
    'sqlite:a.db',
    'postgres://a:100%@db/auth',
  ]) {
    const right = url;
    url = wrong;
    assert.deepEqual(now().slice(0, 3), ['db', 'other', 'new'], wrong);
    url = right;
  }
  url = `postgres://other:newest@db/auth?sslrootcert=${folder.path}/none`;
  assert.deepEqual(now().slice(0, 3), ['db', 'other', 'new']);
});
