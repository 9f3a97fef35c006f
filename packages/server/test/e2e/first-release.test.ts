/**
 * The program of release 0.1.0 beside this one on a database: it rejects keys of further environments. The program comes from
 * the history of the repository.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { claimAsEarlier } from '../../test-kit/earlier-installation.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import {
  basic,
  bearer,
  goodPassword,
  newProgram,
  runProgram,
  type Environment,
  type Exit,
  type Key,
  type Program,
} from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
/** The commit of release 0.1.0, as in `test/data/release-0.1.0`. */
const commit = 'd8af2d0';
// A shallow clone lacks the commit.
const hasCommit = spawnSync('git', ['-C', checkout, 'cat-file', '-e', `${commit}^{commit}`]).status === 0;

/** The copy shares the installed packages with the checkout. @returns its launcher */
function makeFirstRelease(folder: string): string {
  const archive = execFileSync('git', ['-C', checkout, 'archive', commit, 'packages'], { maxBuffer: 100 * 2 ** 20 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@keyreeve'), { recursive: true });
  for (const name of readdirSync(join(checkout, 'node_modules')).filter((one) => one !== '@keyreeve'))
    symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  symlinkSync(join(folder, 'packages/contract'), join(modules, '@keyreeve/contract'));
  return join(folder, 'packages/server/bin/keyreeve.js');
}

const statusOf = async (program: Program, key: string): Promise<number> =>
  (await program.call('GET', '/auth/forward', bearer(key))).status;

test(
  'release 0.1.0 beside this version rejects keys of further environments, and keeps them',
  { skip: !hasCommit && process.env['CI'] !== 'true' && 'the repository has no history' },
  async () => {
    assert.ok(hasCommit, `the repository has no commit ${commit}, and CI requires it: fetch the whole history`);
    using folder = newTempFolder();
    const launcher = makeFirstRelease(folder.path);
    await using place = await newPlace('postgres');
    await claimAsEarlier(place, Buffer.from(place.environment['KEYREEVE_MASTER_KEY'] ?? '', 'base64url'));
    // Both accept access tokens of the same issuer.
    const shared = { ...place.environment, KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };
    const environments = {
      KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test',
      KEYREEVE_FORWARD_ENVIRONMENTS: 'any',
    };
    await using program = await newProgram({ ...shared, ...environments });
    const created = await program.command(['account', 'create', 'you@example.com', '--password-stdin'], goodPassword);
    assert.equal(created.status, 0, created.stderr);
    const pair = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    const headers = bearer((pair.json as { accessToken: string }).accessToken);
    const create = async (body: object): Promise<Key> =>
      (await program.call('POST', '/auth/api-keys', headers, body)).json as Key;
    const live = await create({ nickname: 'live' });
    const inTest = await create({ nickname: 'test', environment: 'test' });
    const rotated = await create({ nickname: 'rotated', environment: 'test' });
    const current = (await program.call('POST', `/auth/api-keys/${rotated.id}/rotate`, headers, {})).json as Key;
    const ofTest = [inTest.key, rotated.key, current.key];

    // With and without the prefixes: texts without a known prefix are foreign ones, which it looks up after an import.
    const prefixes = { KEYREEVE_KEY_PREFIX: 'acme_live', KEYREEVE_KEY_PREFIXES_ACCEPTED: 'acme_test' };
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
  },
);

test(
  'release 0.1.0 refuses to start on an installation whose keys do not derive from its master key',
  { skip: !hasCommit && process.env['CI'] !== 'true' && 'the repository has no history' },
  async () => {
    assert.ok(hasCommit, `the repository has no commit ${commit}, and CI requires it: fetch the whole history`);
    using folder = newTempFolder();
    const launcher = makeFirstRelease(folder.path);
    const run = (args: readonly string[], environment: Environment): Promise<Exit> =>
      runProgram(args, { folder: folder.path, environment });
    for (const isNew of [true, false]) {
      await using place = await newPlace('postgres');
      const { environment } = place;
      if (!isNew) await claimAsEarlier(place, Buffer.from(environment['KEYREEVE_MASTER_KEY'] ?? '', 'base64url'));
      assert.equal((await run(['migrate'], environment)).status, 0);
      if (!isNew) {
        await using earlier = await newProgram(environment, [launcher, 'serve']);
        assert.equal((await earlier.stop()).status, 0);
        const file = join(folder.path, 'new');
        const rotated = await run(['master-key', 'rotate', '--new-file', file, '--generate'], environment);
        assert.equal(rotated.status, 0, rotated.stderr);
      }
      const expected = /the database has schema \d+, which needs a newer program: this one supports up to \d+/;
      await assert.rejects(newProgram(environment, [launcher, 'serve']), expected);
    }
  },
);
