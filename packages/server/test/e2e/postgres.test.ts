/** The program on PostgreSQL: simultaneous starts, a role with few rights, TLS, and an unavailable server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { PostgresDatabases } from '../../test-kit/postgres/databases.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { newTlsServer, tlsPath } from '../../test-kit/tls.ts';
import { until } from '../../test-kit/until.ts';
import { basic, bearer, goodPassword, newProgram, runProgram, type Program } from './program.ts';

const masterKey = Buffer.alloc(32, 9).toString('base64url');
const environmentOf = (url: string) => ({ KEYREEVE_DATABASE_URL: url, KEYREEVE_MASTER_KEY: masterKey });

/** Creates an account and a key with commands. */
async function newKey(program: Program): Promise<string> {
  const created = await program.command(['account', 'create', 'you@example.com', '--password-stdin'], goodPassword);
  assert.equal(created.status, 0, created.stderr);
  const args = ['key', 'create', '--account', 'you@example.com', '--nickname', 'a', '--json'];
  return (JSON.parse((await program.command(args)).stdout) as { key: string }).key;
}

const forward = async (program: Program, key: string): Promise<number> =>
  (await program.call('GET', '/auth/forward', bearer(key))).status;

test('instances that start simultaneously on an empty database create one schema and one signing key', async () => {
  await using place = await newPlace('postgres');
  const programs = await Promise.all(Array.from({ length: 4 }, () => newProgram(place.environment)));
  try {
    assert.equal(programs.filter((program) => program.records('migrated').length > 0).length, 1);
    const [first, ...others] = programs;
    assert.ok(first);
    const key = await newKey(first);
    const jwks = await first.call('GET', '/.well-known/jwks.json');
    assert.equal((jwks.json as { keys: unknown[] }).keys.length, 1);
    for (const other of others) {
      assert.equal(await forward(other, key), 200);
      assert.deepEqual((await other.call('GET', '/.well-known/jwks.json')).json, jwks.json);
      assert.equal((await other.call('POST', '/auth/token', basic('you@example.com', goodPassword))).status, 200);
    }
  } finally {
    for (const program of programs) await program[Symbol.asyncDispose]();
  }
});

test(
  'a role without rights on the schema can serve a current schema, and an outdated schema is reported',
  { tags: ['asvs:13.2.2'] },
  async () => {
    await using database = await newPlace('postgres');
    const admin = new PostgresDatabases(database.url);
    const limited = new URL(database.url);
    // Roles are of the server, which other tests use too.
    const role = `keyreeve_${randomBytes(8).toString('hex')}`;
    limited.username = role;
    limited.password = 'runtime';
    await admin.run(`create role ${role} login password 'runtime'`);
    using folder = newTempFolder();
    const early = await runProgram(['serve'], { folder: folder.path, environment: environmentOf(limited.href) });
    assert.equal(early.status, 78, early.stderr);
    assert.match(early.stderr, /run `keyreeve migrate` with a role that can change the schema/);

    assert.equal(
      (await runProgram(['migrate'], { folder: folder.path, environment: environmentOf(database.url) })).status,
      0,
    );
    await admin.run(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await using program = await newProgram(environmentOf(limited.href));
    assert.equal(await forward(program, await newKey(program)), 200);
    assert.equal((await program.call('POST', '/auth/token', basic('you@example.com', goodPassword))).status, 200);
  },
);

test(
  'the certificate of the server is verified unless the database URL disables it',
  { tags: ['asvs:12.3.1', 'asvs:12.3.2', 'asvs:12.3.4', 'asvs:13.2.1'] },
  async () => {
    await using server = await newTlsServer();
    const database = await server.createDatabase();
    using folder = newTempFolder();
    const url = (host: string, sslmode: string): string => {
      const databaseUrl = new URL(database.url);
      databaseUrl.hostname = host;
      return `${databaseUrl.href}?sslmode=${sslmode}`;
    };
    const certificate = `&sslrootcert=${tlsPath('server.crt')}`;
    const migrate = async (databaseUrl: string) =>
      (await runProgram(['migrate'], { folder: folder.path, environment: environmentOf(databaseUrl) })).stderr;
    assert.match(await migrate(url('localhost', 'verify-full')), /self-signed certificate/);
    assert.match(await migrate(url('127.0.0.1', `verify-full${certificate}`)), /IP: 127\.0\.0\.1 is not in the cert/);
    assert.match(await migrate(url('localhost', `verify-full&sslrootcert=${tlsPath('none.crt')}`)), /none\.crt/);
    for (const accepted of [`verify-full${certificate}`, 'require'])
      assert.equal(await migrate(url('localhost', accepted)), '');
    assert.equal(await migrate(url('127.0.0.1', `verify-ca${certificate}`)), '');
  },
);

test(
  'while PostgreSQL is unavailable, requests return 503, and succeed after its return',
  { tags: ['asvs:16.5.2'] },
  async () => {
    await using server = await PostgresServer.start({ durable: true });
    const database = await server.createDatabase();
    await using program = await newProgram(environmentOf(database.url));
    const key = await newKey(program);
    for (const fail of ['stop', 'crash'] as const) {
      assert.equal(await forward(program, key), 200);
      await server[fail]();
      for (let attempt = 0; attempt < 3; attempt++) assert.equal(await forward(program, key), 503);
      assert.equal((await program.call('POST', '/auth/token', basic('you@example.com', goodPassword))).status, 503);
      assert.equal((await program.call('GET', '/health/ready')).status, 503);
      assert.equal((await program.call('GET', '/health/live')).status, 200);
      await server.startAgain();
      await untilAccepted(program, key);
    }
    using folder = newTempFolder();
    await server.stop();
    const early = await runProgram(['serve'], { folder: folder.path, environment: environmentOf(database.url) });
    assert.equal(early.status, 1);
    assert.match(
      early.stderr,
      /^keyreeve: the database postgres:.* cannot be used: .*ECONNREFUSED.*\. Check that the server runs, and the host and port in KEYREEVE_DATABASE_URL\.\n$/,
    );
    await server.startAgain();
  },
);

test('a server that has become a standby is not read, because its data may be outdated', async () => {
  await using server = await PostgresServer.start({ durable: true });
  const database = await server.createDatabase();
  await using program = await newProgram(environmentOf(database.url));
  const key = await newKey(program);
  assert.equal(await forward(program, key), 200);
  await server.stop();
  const signal = join(server.folder, 'data', 'standby.signal');
  writeFileSync(signal, '');
  await server.startAgain();
  for (let attempt = 0; attempt < 3; attempt++) assert.equal(await forward(program, key), 503);
  using folder = newTempFolder();
  const other = await runProgram(['serve'], { folder: folder.path, environment: environmentOf(database.url) });
  assert.match(other.stderr, /is a standby or read-only; Keyreeve needs the primary/);
  await new PostgresDatabases(server.url()).run('select pg_promote()');
  await untilAccepted(program, key);
});

/** Attempts can be rejected quickly, until the program has connected again. */
const untilAccepted = (program: Program, key: string): Promise<void> =>
  until('the key is accepted again', async () => (await forward(program, key)) === 200);
