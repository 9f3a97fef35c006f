/** The image of the Dockerfile, built and run as a careful orchestrator does. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, globSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { Image, imageUser as user, outside, skipWithout, writeSecretVolume, type Mount } from './container.ts';
import { basic, bearer, goodPassword } from './program.ts';

const launcher = '/app/packages/server/bin/keyreeve.js';
const environment = {
  KEYREEVE_MASTER_KEY_FILE: '/run/keyreeve/master-key',
  KEYREEVE_PORT: '0',
  KEYREEVE_ADMIN_PORT: '0',
  KEYREEVE_DELETION_JOURNAL: '/deletions',
};

suite('the image of the Dockerfile', { skip: skipWithout('images') }, () => {
  const image = new Image();
  let folder: TempFolder;

  before(async () => {
    folder = newTempFolder();
    chmodSync(folder.path, 0o755);
    await image.build();
  });
  after(() => {
    folder[Symbol.dispose]();
    image[Symbol.dispose]();
  });

  /** Volumes that the user can write to, and the master key in a Secret of Kubernetes. */
  function mountsOf(name: string): Mount[] {
    const newVolume = (volume: string): string => {
      const path = join(folder.path, name, volume);
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o755);
      return path;
    };
    const writable = ['data', 'deletions', 'backups'].map((volume): Mount => {
      const source = newVolume(volume);
      chownSync(source, outside(user), outside(user));
      return { source, destination: `/${volume}`, isWritable: true };
    });
    const secrets = newVolume('secrets');
    writeSecretVolume(secrets, 'master-key', randomBytes(32).toString('base64url'), user);
    return [...writable, { source: secrets, destination: '/run/keyreeve' }];
  }

  test('is built without privileges on the machine', () => {
    assert.deepEqual([lstatSync(image.root).uid, lstatSync(join(image.root, 'data')).uid], [outside(0), outside(user)]);
  });

  test('names an unprivileged user, the data volume and the launcher', () => {
    const { User, Entrypoint, Cmd, Env } = image.config;
    assert.deepEqual([User, Entrypoint, Cmd], [`${user}:${user}`, ['node', launcher], ['serve']]);
    assert.ok(Env.includes('KEYREEVE_DATABASE_URL=sqlite:/data/keyreeve.db'));
    assert.deepEqual(readdirSync(join(image.root, 'data')), ['deletions']);
  });

  test('contains no history, tests, documents, development dependencies or second Node', () => {
    const app = join(image.root, 'app');
    assert.deepEqual(
      ['.git', 'docs', 'bench', 'data', 'node_modules/typescript', 'node_modules/playwright-core'].filter(
        (name) => globSync(name, { cwd: app }).length > 0,
      ),
      [],
    );
    assert.deepEqual(globSync('packages/**/{*.test.ts,test-kit}', { cwd: app, exclude: ['**/node_modules/**'] }), []);
    assert.deepEqual(globSync('node_modules/node-*/bin/node', { cwd: app }), []);
  });

  test('serves with a read-only root, no capabilities and no privileges, rejects a deleted key, and drains', async () => {
    const mounts = mountsOf('restricted');
    await using container = image.start(mounts, environment);
    const { program } = container;
    await program.waitForRecord('listening');
    assert.equal((await program.call('GET', '/console')).status, 200);

    const email = 'you@example.com';
    const created = await container.exec(
      ['node', launcher, 'account', 'create', email, '--password-stdin'],
      goodPassword,
    );
    assert.equal(created.status, 0, created.stderr);
    const signedIn = await program.call('POST', '/auth/token', basic(email, goodPassword));
    const { accessToken } = signedIn.json as { accessToken: string };
    const { id, key } = await program.createKey(accessToken);
    const kept = await program.createKey(accessToken, 'kept');
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);

    const backup = ['backup', '--to', '/backups', '--keep', '30'];
    const inside = await container.exec(['node', launcher, ...backup]);
    assert.equal(inside.status, 0, inside.stderr);
    const [beforeDeletion] = readdirSync(join(folder.path, 'restricted', 'backups'));
    assert.equal((await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 401);

    const { stdout } = await container.exec(['cat', '/proc/1/status']);
    const status = Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\t/)));
    assert.deepEqual(
      [status['Uid'], status['CapEff'], status['CapBnd'], status['NoNewPrivs']],
      [Array(4).fill(user).join('\t'), '0'.repeat(16), '0'.repeat(16), '1'],
    );
    for (const path of ['/app/x', '/x', '/run/keyreeve/x']) {
      const { stderr, status: exit } = await container.exec(['sh', '-c', `: >${path}`]);
      assert.notEqual(exit, 0);
      assert.match(stderr, /Read-only file system|Permission denied/, path);
    }

    // As the chart's job, which has the volumes of the pod.
    await using job = image.start(mounts, environment, backup);
    assert.equal((await job.program.exited()).status, 0, job.program.stderr);
    assert.equal(readdirSync(join(folder.path, 'restricted', 'backups')).length, 2);

    assert.equal((await program.stop()).status, 0);
    assert.match(program.stdout, /"event":"stopped","isDrained":true/);

    // The volume of the database is lost. The deletion journal is on another one.
    const data = join(folder.path, 'restricted', 'data');
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
    const from = ['--from', `/backups/${beforeDeletion}`, '--replace', '--yes'];
    await using restore = image.start(mounts, environment, ['restore', ...from]);
    assert.equal((await restore.program.exited()).status, 0, restore.program.stderr);
    await using again = image.start(mounts, environment);
    await again.program.waitForRecord('listening');
    assert.equal((await again.program.call('GET', '/auth/forward', bearer(key))).status, 401);
    assert.equal((await again.program.call('GET', '/auth/forward', bearer(kept.key))).status, 200);
  });
});
