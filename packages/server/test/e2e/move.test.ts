/** `keyreeve move`: credentials stay valid after a move, and a killed move changes nothing. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import {
  bearer,
  databaseIn,
  goodPassword,
  basic,
  runProgram,
  startProgram,
  type Environment,
  type Key,
} from './program.ts';
import { newTargetDatabase } from './target-database.ts';

/** Keeps the issuer of tokens when the port changes. */
const fixedUrl = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** The settings that the command prints. */
const environmentAfter = (settings: Environment, url: string): Environment => ({
  ...fixedUrl,
  ...settings,
  KEYREEVE_DATABASE_URL: url,
});

test('a dry run of a move neither creates the usage file nor puts it aside', async () => {
  using folder = newTempFolder();
  await using database = await newTargetDatabase();
  {
    await using before = await startProgram(folder.path, fixedUrl);
    await before.newKey();
    await before.stop();
  }
  const path = `${databaseIn(folder.path)}.usage`;
  const filesBeside = () => readdirSync(dirname(path)).filter((name) => name.includes('.usage'));
  const run = async (): Promise<Record<string, number>> => {
    const args = ['move', '--to', database.url, '--dry-run', '--json'];
    const { status, stdout, stderr } = await runProgram(args, { folder: folder.path, environment: fixedUrl });
    assert.equal(status, 0, stderr);
    return (JSON.parse(stdout) as { rows: Record<string, number> }).rows;
  };
  assert.ok('key_usage' in (await run()));
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  assert.ok(!('key_usage' in (await run())));
  assert.deepEqual(filesBeside(), []);
  writeFileSync(path, 'not a database');
  assert.ok(!('key_usage' in (await run())));
  assert.deepEqual(filesBeside(), [basename(path)]);
  assert.equal(readFileSync(path, 'utf8'), 'not a database');
});

test('after a move, keys, tokens and passwords are valid, and the old installation does not start', async () => {
  using folder = newTempFolder();
  await using database = await newTargetDatabase();
  const { url } = database;
  let tokens: Pair;
  let key: Key;
  let deleted: Key;
  {
    await using before = await startProgram(folder.path, fixedUrl);
    tokens = await before.signIn();
    key = await before.createKey(tokens.accessToken, 'kept');
    deleted = await before.createKey(tokens.accessToken, 'deleted');
    assert.equal((await before.call('DELETE', `/auth/api-keys/${deleted.id}`, bearer(tokens.accessToken))).status, 200);

    const inUse = await before.command(['move', '--to', url]);
    assert.equal(inUse.status, 1);
    assert.match(inUse.stderr, /^keyreeve: .* is in use; stop the service and every other command first\n$/);
    const dry = await before.command(['move', '--to', url, '--dry-run', '--json']);
    assert.equal(dry.status, 0, dry.stderr);
    const { rows } = JSON.parse(dry.stdout) as { rows: Record<string, number> };
    assert.deepEqual([rows['accounts'], rows['api_keys'], rows['sessions'], rows['signing_keys']], [1, 1, 1, 1]);
    await before.stop();
  }
  const run = (...args: string[]) => runProgram(args, { folder: folder.path, environment: fixedUrl });
  const moved = await run('move', '--to', url, '--json');
  assert.equal(moved.status, 0, moved.stderr);
  const { settings } = JSON.parse(moved.stdout) as { settings: Environment };
  const path = databaseIn(folder.path);
  assert.equal(settings['KEYREEVE_MASTER_KEY_FILE'], `${path}.master-key`);
  assert.equal(settings['KEYREEVE_DELETION_JOURNAL'], `${path}.deletions`);
  assert.deepEqual([existsSync(path), existsSync(`${path}.moved`)], [false, true]);

  await using after = await startProgram(folder.path, environmentAfter(settings, url));
  const statusOf = async (credential: string) => (await after.call('GET', '/auth/forward', bearer(credential))).status;
  assert.deepEqual(
    [await statusOf(key.key), await statusOf(tokens.accessToken), await statusOf(deleted.key)],
    [200, 200, 401],
  );
  const refreshed = await after.call('POST', '/auth/token/refresh', {}, { refreshToken: tokens.refreshToken });
  assert.equal(refreshed.status, 200, refreshed.text);
  const signedIn = await after.call('POST', '/auth/token', basic('you@example.com', goodPassword));
  assert.equal(signedIn.status, 200);
  const list = await after.call('GET', '/auth/api-keys', bearer((refreshed.json as Pair).accessToken));
  assert.deepEqual(
    (list.json as { apiKeys: { id: number }[] }).apiKeys.map(({ id }) => id),
    [key.id],
  );

  for (const command of [
    ['serve'],
    ['key', 'list', '--account', 'you@example.com'],
    ['move', '--to', url],
    ['migrate'],
  ]) {
    const rejected = await run(...command);
    assert.equal(rejected.status, 78, command.join(' '));
    assert.match(rejected.stderr, /was moved; set KEYREEVE_DATABASE_URL/);
  }
});
