/**
 * The program of release 0.1.0 and this one on a database: before, after and beside each other. Release 0.1.0 creates each
 * database, as before an upgrade. docs/upgrade.md promises what these tests show.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseUrl } from '../../src/app/config-values.ts';
import { deriveKeys } from '../../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { newestSchema } from '../../src/foundation/database/migrate.ts';
import { sql } from '../../src/foundation/database/sql.ts';
import { databaseKinds, newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { firstReleaseCommit, firstReleaseSchema, unpackFirstRelease } from './first-release-program.ts';
import {
  basic,
  bearer,
  goodPassword,
  newProgram,
  runProgram,
  startProgram,
  type Environment,
  type Key,
  type Program,
} from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const masterKey = Buffer.alloc(32, 6);
const newest = newestSchema('sqlite');

const statusOf = async (program: Program, credential: string): Promise<number> =>
  (await program.call('GET', '/auth/forward', bearer(credential))).status;
const deleteKey = async (program: Program, accessToken: string, { id }: Key): Promise<number> =>
  (await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status;

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

async function refresh(program: Program, refreshToken: string): Promise<Tokens> {
  const { status, text, json } = await program.call('POST', '/auth/token/refresh', {}, { refreshToken });
  assert.equal(status, 200, text);
  return json as Tokens;
}

/** Everything of the database. @returns by table, in the order of the rows */
async function contentsOf(url: string): Promise<unknown> {
  const db = await openDatabase(databaseUrl(url), deriveKeys(masterKey).auditChain);
  try {
    const tables = await db.all(
      sql<{ name: string }>('test_tables', {
        sqlite: `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%' order by name`,
        postgres: `select tablename as name from pg_catalog.pg_tables where schemaname = current_schema() order by 1`,
      }),
    );
    const all: Record<string, unknown> = {};
    for (const { name } of tables) all[name] = await db.all(sql(`test_rows_of_${name}`, `select * from ${name}`));
    return all;
  } finally {
    await db.close();
  }
}

suite('release 0.1.0', () => {
  let folder: TempFolder;
  let launcher: string;
  before(() => {
    folder = newTempFolder();
    launcher = unpackFirstRelease(folder.path);
  });
  after(() => folder[Symbol.dispose]());

  const environmentOf = (more: Environment): Environment => ({
    ...more,
    KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
    // Both accept access tokens of the same issuer.
    KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
  });

  for (const kind of databaseKinds) {
    test(`its credentials work after the upgrade, and those of this version after the return to it (${kind})`, async () => {
      using data = newTempFolder();
      await using place = await newPlace(kind);
      const environment = environmentOf(place.environment);
      const startFirst = () => startProgram(data.path, environment, [launcher, 'serve']);
      let tokens: Tokens;
      let [kept, deleted, later]: Key[] = [];
      {
        await using first = await startFirst();
        tokens = await first.signIn();
        kept = await first.createKey(tokens.accessToken, 'kept');
        deleted = await first.createKey(tokens.accessToken, 'deleted');
        later = await first.createKey(tokens.accessToken, 'later');
        assert.equal(await deleteKey(first, tokens.accessToken, deleted), 200);
        await first.stop();
      }
      {
        await using program = await startProgram(data.path, environment);
        for (const valid of [kept.key, later.key, tokens.accessToken])
          assert.equal(await statusOf(program, valid), 200);
        assert.equal(await statusOf(program, deleted.key), 401);
        tokens = await refresh(program, tokens.refreshToken);
        const signIn = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
        assert.equal(signIn.status, 200, signIn.text);
        assert.equal(await deleteKey(program, tokens.accessToken, later), 200);
        deleted = later;
        later = await program.createKey(tokens.accessToken, 'of this version');
        const doctor = await program.command(['doctor', '--json']);
        assert.deepEqual((JSON.parse(doctor.stdout) as { schema: unknown }).schema, {
          version: newest,
          compatibleFrom: firstReleaseSchema,
          oldestRelease: '0.1.0',
        });
        await program.stop();
      }
      await using first = await startFirst();
      for (const valid of [kept.key, later.key, tokens.accessToken]) assert.equal(await statusOf(first, valid), 200);
      assert.equal(await statusOf(first, deleted.key), 401);
      await refresh(first, tokens.refreshToken);
      assert.equal((await first.call('POST', '/auth/token', basic('you@example.com', goodPassword))).status, 200);
      assert.equal(await deleteKey(first, tokens.accessToken, later), 200);
      assert.equal(await statusOf(first, later.key), 401);
    });

    test(`it refuses a new installation of this version, and leaves it as it is (${kind})`, async () => {
      using data = newTempFolder();
      await using place = await newPlace(kind);
      const environment = environmentOf(place.environment);
      const account = ['account', 'create', 'you@example.com', '--generate'];
      const created = await runProgram(account, { folder: data.path, environment });
      assert.equal(created.status, 0, created.stderr);
      const contents = await contentsOf(place.url);
      await using first = await startProgram(data.path, environment, [launcher, 'serve']).catch((error: Error) => {
        assert.match(
          error.message,
          /^keyreeve: the database has schema \d+, which needs a newer program; this one knows up to 2\. Install the version that made it\.$/m,
        );
        return undefined;
      });
      assert.equal(first, undefined);
      assert.deepEqual(await contentsOf(place.url), contents);
    });
  }

  test('beside this version, both accept and reject the same keys and sessions', async () => {
    await using place = await newPlace('postgres');
    const environment = environmentOf(place.environment);
    await using first = await newProgram(environment, [launcher, 'serve']);
    let tokens = await first.signIn();
    const ofFirst = await first.createKey(tokens.accessToken, 'of 0.1.0');
    // It migrates the schema below the running release.
    await using program = await newProgram(environment);
    const ofThis = await program.createKey(tokens.accessToken, 'of this version');
    for (const one of [first, program]) {
      for (const { key } of [ofFirst, ofThis]) assert.equal(await statusOf(one, key), 200);
      tokens = await refresh(one, tokens.refreshToken);
    }
    assert.equal(await deleteKey(first, tokens.accessToken, ofThis), 200);
    assert.equal(await statusOf(program, ofThis.key), 401);
    assert.equal(await deleteKey(program, tokens.accessToken, ofFirst), 200);
    assert.equal(await statusOf(first, ofFirst.key), 401);
    const { refreshToken } = tokens;
    assert.equal((await program.call('POST', '/auth/token/revoke', {}, { refreshToken })).status, 204);
    assert.equal((await first.call('POST', '/auth/token/refresh', {}, { refreshToken })).status, 401);
    for (const one of [first, program]) assert.deepEqual(one.records('crashed'), []);
  });

  test('beside this version, it rejects keys of further environments, and keeps them', async () => {
    await using place = await newPlace('postgres');
    const shared = environmentOf(place.environment);
    const prefixes = { KEYREEVE_KEY_PREFIX: 'acme_live', KEYREEVE_KEY_PREFIXES_ACCEPTED: 'acme_test' };
    let headers: { authorization: string };
    {
      await using first = await newProgram({ ...shared, ...prefixes }, [launcher, 'serve']);
      headers = bearer((await first.signIn()).accessToken);
      await first.stop();
    }
    const environments = {
      KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test',
      KEYREEVE_FORWARD_ENVIRONMENTS: 'any',
    };
    await using program = await newProgram({ ...shared, ...environments });
    const create = async (body: object): Promise<Key> =>
      (await program.call('POST', '/auth/api-keys', headers, body)).json as Key;
    const live = await create({ nickname: 'live' });
    const inTest = await create({ nickname: 'test', environment: 'test' });
    const rotated = await create({ nickname: 'rotated', environment: 'test' });
    const current = (await program.call('POST', `/auth/api-keys/${rotated.id}/rotate`, headers, {})).json as Key;
    const ofTest = [inTest.key, rotated.key, current.key];

    // With and without the prefixes: texts without a known prefix are foreign ones, which it looks up after an import.
    for (const settings of [prefixes, { KEYREEVE_KEY_PREFIX: 'acme_live' }]) {
      await using earlier = await newProgram({ ...shared, ...settings }, [launcher, 'serve']);
      assert.equal(await statusOf(earlier, live.key), 200);
      for (const key of ofTest) assert.equal(await statusOf(earlier, key), 401);
      const listed = (await earlier.call('GET', '/auth/api-keys', headers)).json as { apiKeys: { id: number }[] };
      assert.equal(listed.apiKeys.length, 3);
    }
    for (const key of ofTest) assert.equal(await statusOf(program, key), 200);

    await using earlier = await newProgram({ ...shared, ...prefixes }, [launcher, 'serve']);
    assert.equal((await earlier.call('DELETE', `/auth/api-keys/${inTest.id}`, headers)).status, 200);
    assert.equal(await statusOf(program, inTest.key), 401);
  });

  for (const state of ['new', 'rotated'] as const) {
    test(`it refuses an installation whose keys do not derive from its master key (${state})`, async () => {
      using data = newTempFolder();
      await using place = await newPlace('postgres');
      const environment = environmentOf(place.environment);
      if (state === 'rotated') {
        await using first = await startProgram(data.path, environment, [launcher, 'serve']);
        assert.equal((await first.stop()).status, 0);
      }
      const migrated = await runProgram(['migrate'], { folder: data.path, environment });
      assert.equal(migrated.status, 0, migrated.stderr);
      if (state === 'rotated') {
        const rotate = ['master-key', 'rotate', '--new-file', join(data.path, 'new'), '--generate'];
        const rotated = await runProgram(rotate, { folder: data.path, environment });
        assert.equal(rotated.status, 0, rotated.stderr);
      }
      const expected = /the database has schema \d+, which needs a newer program; this one knows up to \d+/;
      await assert.rejects(startProgram(data.path, environment, [launcher, 'serve']), expected);
    });
  }

  test('the packed program is that of its commit', (t: TestContext) => {
    const git = (...args: string[]) => spawnSync('git', ['-C', checkout, ...args], { maxBuffer: 100 * 2 ** 20 });
    // A shallow clone lacks the commit.
    if (git('cat-file', '-e', `${firstReleaseCommit}^{commit}`).status !== 0) {
      t.diagnostic('not tried: the repository has no history');
      return;
    }
    using history = newTempFolder();
    const input = git('archive', firstReleaseCommit, 'packages/server', 'packages/contract').stdout;
    execFileSync('tar', ['-x', '-C', history.path], { input });
    const packed = readdirSync(join(folder.path, 'packages'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.path.length));
    assert.ok(packed.length > 200);
    for (const path of packed)
      assert.ok(readFileSync(join(folder.path, path)).equals(readFileSync(join(history.path, path))), path);
  });
});
