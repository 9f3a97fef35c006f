/** The npm package: what it contains, and one installation. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Manifest } from '../../../../scripts/package-manifest.ts';
import { imageUser } from '../../../../scripts/package-image.ts';
import { readJson } from '../../../../scripts/package.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Image, outside, skipWithout } from './container.ts';
import { Installation, newRegistry } from './package-installation.ts';
import type { Registry } from './package-registry.ts';
import { basic, bearer, goodPassword, type Key } from './program.ts';
import { checkout, sharedPackage } from './shared-package.ts';

test('the package contains JavaScript, its licence and its README, and neither sources nor tests', async () => {
  const { unpacked: folder } = await sharedPackage();
  const contained = globSync('**', { cwd: folder });
  const unexpected = contained.filter((path) => /\.tsx?$|\.test\.|(?:^|\/)(?:test|test-kit)(?:\/|$)/.test(path));
  assert.deepEqual(unexpected, []);
  const names = [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'docs/deploy.md',
    'ops/prometheus/rules.yml',
    'ops/helm/keyreeve/files/rules.yml',
    'dist/cli/main.js',
    'dist/licences.txt',
    'console/dist/index.html',
    'console/dist/licences.txt',
    'guides/dist/index.html',
    'guides/dist/licences.txt',
  ];
  assert.deepEqual(
    names.filter((name) => !contained.includes(name)),
    [],
  );
  const licences = readFileSync(join(folder, 'dist/licences.txt'), 'utf8');
  assert.match(licences, /digests\.bin[^]*Creative Commons Attribution-ShareAlike 3\.0[^]*adaptation/);
  // Stated in a README only.
  assert.match(licences, /^pg-types .*\n\n[^]*?Brian M\. Carlson/m);
  assert.equal((readJson(join(folder, 'package.json')) as Manifest)['license'], 'Apache-2.0 AND CC-BY-SA-3.0');
  // Scripts of an installation run on the machines of all users.
  assert.deepEqual((readJson(join(folder, 'package.json')) as { scripts: object }).scripts, {
    postinstall: 'node -e 0 || "$npm_node_execpath" bin/use-own-node.js',
  });
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)];
  const targets = links.map(([, target = '']) => target);
  assert.ok(targets.length > 5);
  assert.deepEqual(
    targets.filter((target) => !existsSync(join(folder, target))),
    [],
  );
});

test('each file of the build has a source map, with which a stack trace names a line of the source', async () => {
  const { unpacked: folder } = await sharedPackage();
  const scripts = globSync('dist/{cli,foundation,parts}/**/*.js', { cwd: folder });
  const sources = scripts.flatMap((path) => {
    const map = readJson(join(folder, `${path}.map`)) as { sources: string[]; sourcesContent: (string | null)[] };
    return map.sources.map((source, index) => [basename(source), map.sourcesContent[index]] as const);
  });
  const path = 'packages/server/src/cli/prove-revocation.ts';
  assert.ok(
    sources.some(([name, text]) => name === basename(path) && text === readFileSync(join(checkout, path), 'utf8')),
  );
});

suite('after `npm install` of the archive in an empty folder', () => {
  let registry: Registry;
  let installation: Installation;

  before(async () => {
    registry = await newRegistry();
    installation = new Installation(registry);
    await installation.install();
  });
  after(async () => {
    installation[Symbol.dispose]();
    await registry[Symbol.asyncDispose]();
  });

  test('a deleted key is rejected', async () => {
    assert.ok(existsSync(join(installation.path, 'node_modules/.bin/node')), 'the bundled Node is installed');

    // Without npx, which a failed test would end before the service.
    await using program = installation.start('node_modules/.bin/keyreeve', 'serve');
    await program.waitForRecord('listening');
    await installation.createAccount('you@example.com');
    const signedIn = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    assert.equal(signedIn.status, 200, signedIn.text);
    const { accessToken } = signedIn.json as { accessToken: string };
    const { id, key }: Key = await program.createKey(accessToken);
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
    assert.equal((await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    const refused = await program.call('GET', '/auth/forward', bearer(key));
    assert.equal(refused.status, 401);
    // What the package serves from files.
    for (const path of ['/console/', '/docs', '/docs/tutorials/express', '/openapi.json']) {
      assert.equal((await program.call('GET', path, { accept: 'text/html' })).status, 200, path);
    }
    program.signal('SIGTERM');
    await program.exited();
    // The message shows the last records.
    assert.match(program.stdout.slice(-3_000), /"event":"stopped","isDrained":true/);
  });

  test(
    'a container with a read-only root, no capabilities and no privileges serves and drains',
    {
      skip: skipWithout('containers'),
    },
    async () => {
      using image = new Image();
      const launcher = '/app/node_modules/keyreeve/bin/keyreeve.js';
      chmodSync(installation.path, 0o755);
      await image.useMachine(installation.path, {
        Entrypoint: ['/app/node_modules/.bin/node', launcher],
        Cmd: ['serve'],
      });
      using data = newTempFolder();
      chownSync(data.path, outside(imageUser), outside(imageUser));
      await using container = image.start([{ source: data.path, destination: '/data', isWritable: true }], {
        KEYREEVE_DATABASE_URL: 'sqlite:/data/keyreeve.db',
        KEYREEVE_PORT: '0',
        KEYREEVE_ADMIN_PORT: '0',
      });
      const { program } = container;
      await program.waitForRecord('listening');
      assert.equal((await program.call('GET', '/health/ready')).status, 200);
      const { stdout } = await container.exec(['cat', '/proc/1/status']);
      const status = Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\t/)));
      assert.deepEqual(
        [status['Uid'], status['CapEff'], status['CapBnd'], status['NoNewPrivs']],
        [Array(4).fill(imageUser).join('\t'), '0'.repeat(16), '0'.repeat(16), '1'],
      );
      const written = await container.exec(['sh', '-c', ': >/x']);
      assert.match(written.stderr, /Read-only file system|Permission denied/);
      assert.equal((await program.stop()).status, 0);
      assert.match(program.stdout, /"event":"stopped","isDrained":true/);
    },
  );
});
