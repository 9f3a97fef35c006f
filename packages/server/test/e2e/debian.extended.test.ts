/**
 * An empty Debian installs the Debian package, the self-extracting file and the npm package. Each serves, verifies a key, and goes on
 * while the next version is installed over it; the next version has every credential; and its removal leaves only data.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { buildPrograms } from '../../../../scripts/package-programs.ts';
import { buildPackage } from '../../../../scripts/package.ts';
import { versionOf } from '../../../../scripts/version-places.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { paths, root as checkout } from '../docs/tree.ts';
import { DebianRoot, skipWithoutDebian } from './debian-root.ts';
import { newRegistry, npmEnvironment } from './package-installation.ts';
import { basic, bearer, goodPassword, type Environment, type Program } from './program.ts';

const nextVersion = '9.9.9';
const email = 'you@example.com';
const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const ports = { KEYREEVE_PORT: '0', KEYREEVE_ADMIN_PORT: '0', KEYREEVE_DRAIN_SECONDS: '0' };

/** How an installation is used. */
interface Installation {
  readonly serve: () => Program;
  readonly keyreeve: (args: readonly string[], input?: string) => Promise<string>;
  /** Installs the next version while the service runs. */
  readonly upgrade: () => Promise<void>;
}

suite('an empty Debian', { skip: skipWithoutDebian() }, () => {
  const folder = newTempFolder();
  const versions: string[] = [];
  /** Name of a file of the version → its path in Debian. */
  const place = (version: string, name: string): string => `/root/${name.replace('VERSION', version)}`;
  let debian: DebianRoot;
  let empty: readonly string[];

  before(() => {
    debian = new DebianRoot();
    empty = debian.listing();
    const root = join(folder.path, 'checkout');
    for (const path of paths)
      if (/^(?:packages|scripts|docs|ops|bench|[^/]+$)/.test(path)) cpSync(join(checkout, path), join(root, path));
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    process.env['SOURCE_DATE_EPOCH'] = '1700000000';
    for (const next of [undefined, nextVersion]) {
      const path = join(root, 'packages/server/package.json');
      if (next !== undefined)
        writeFileSync(
          path,
          readFileSync(path, 'utf8').replace(`"version": "${versionOf(root)}"`, `"version": "${next}"`),
        );
      const version = versionOf(root);
      versions.push(version);
      const built = buildPrograms(root, join(folder.path, `programs-${version}`), [{ platform: 'linux', arch }]);
      for (const file of [...built, buildPackage(root, join(folder.path, `npm-${version}`))])
        cpSync(file, debian.at(`/root/${basename(file)}`));
    }
    delete process.env['SOURCE_DATE_EPOCH'];
    empty = debian.listing();
  });
  after(() => {
    debian?.[Symbol.dispose]();
    folder[Symbol.dispose]();
  });

  async function assertKept({ serve, keyreeve, upgrade }: Installation): Promise<void> {
    const [first = '', next = ''] = versions;
    const expectCredentials = async (program: Program, key: string, deleted: string): Promise<string> => {
      assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
      assert.equal((await program.call('GET', '/auth/forward', bearer(deleted))).status, 401);
      const signedIn = await program.call('POST', '/auth/token', basic(email, goodPassword));
      assert.equal(signedIn.status, 200, signedIn.text);
      for (const path of ['/console/', '/docs'])
        assert.equal((await program.call('GET', path, { accept: 'text/html' })).status, 200, path);
      return (signedIn.json as { accessToken: string }).accessToken;
    };
    await keyreeve(['account', 'create', email, '--password-stdin'], goodPassword);
    await using started = serve();
    assert.equal((await started.waitForRecord('listening'))['version'], first);
    const signedIn = await started.call('POST', '/auth/token', basic(email, goodPassword));
    const { accessToken } = signedIn.json as { accessToken: string };
    const { key } = await started.createKey(accessToken);
    const { id, key: deleted } = await started.createKey(accessToken, 'deleted');
    assert.equal((await started.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    await expectCredentials(started, key, deleted);
    await upgrade();
    const sinceUpgrade = await expectCredentials(started, key, deleted);
    const { key: later } = await started.createKey(sinceUpgrade, 'later');
    const { status, stderr } = await started.stop();
    assert.equal(status, 0, stderr);

    assert.match(await keyreeve(['--version']), new RegExp(`^${RegExp.escape(next)} \\([0-9a-f]{12}\\)\n$`));
    await using again = serve();
    assert.equal((await again.waitForRecord('listening'))['version'], next);
    await expectCredentials(again, key, deleted);
    assert.equal((await again.call('GET', '/auth/forward', bearer(later))).status, 200);
    assert.equal((await again.stop()).status, 0);
  }

  test('installs, upgrades and removes the Debian package', async () => {
    const file = `keyreeve_VERSION_${arch === 'x64' ? 'amd64' : 'arm64'}.deb`;
    const [first = '', next = ''] = versions.map((version) => place(version, file));
    // The units name credentials by `%d`: without it, the service would create a master key of its own.
    const other = 'Package: systemd\nVersion: 249\nArchitecture: all\nMaintainer: test\nDescription: test\n';
    const build = 'mkdir -p /tmp/other/DEBIAN; cat > /tmp/other/DEBIAN/control; dpkg-deb --build /tmp/other';
    await debian.succeed(['sh', '-c', `${build}; dpkg --install /tmp/other.deb`], { input: other });
    assert.match((await debian.run(['dpkg', '--install', first])).stderr, /keyreeve breaks systemd \(<< 252\)/);
    await debian.succeed(['dpkg', '--purge', 'systemd']);
    assert.deepEqual(debian.listing(), empty);
    assert.match(await debian.succeed(['dpkg', '--install', first]), /created \/etc\/keyreeve\/master-key/);
    // Administrators copy them.
    const units = '/usr/lib/keyreeve/current/docs/systemd';
    const upload = /^ExecStart=\/usr\/lib\/keyreeve\/current\/bin\/keyreeve backup --to s3:/m;
    assert.match(readFileSync(debian.at(`${units}/storage.conf`), 'utf8'), upload);
    assert.equal((await debian.run(['grep', '-rl', '/opt/', units])).status, 1);
    const settings = '/etc/keyreeve/keyreeve.env';
    const edited = `${readFileSync(debian.at(settings), 'utf8')}KEYREEVE_PUBLIC_URL=https://auth.example.com\n`;
    writeFileSync(debian.at(settings), edited);
    // As systemd starts the unit.
    const unit = (name: string): string[] =>
      [
        ...readFileSync(debian.at('/usr/lib/systemd/system/keyreeve.service'), 'utf8').matchAll(
          new RegExp(`^${name}=(.*)$`, 'gm'),
        ),
      ].map(([, value = '']) => value.replace('%d', '/etc/keyreeve'));
    const [command = '', user = ''] = [unit('ExecStart')[0], unit('User')[0]];
    const environment = Object.fromEntries(unit('Environment').map((line) => line.split(/=(.*)/).slice(0, 2)));
    const asUser = ['setpriv', '--reuid', user, '--regid', user, '--clear-groups'];
    await assertKept({
      serve: () =>
        debian.start({ ...environment, ...ports, HOME: '/' } as Environment, [...asUser, ...command.split(' ')]),
      keyreeve: (args, input = '') => debian.succeed(['keyreeve', ...args], { input }),
      upgrade: async () => {
        // An interrupted installation has left it.
        await debian.succeed(['ln', '-s', versions[0] ?? '', '/usr/lib/keyreeve/current.new']);
        await debian.succeed(['dpkg', '--install', next]);
        assert.deepEqual(
          debian.listing().filter((path) => /^usr\/lib\/keyreeve\/[^/]+$/.test(path)),
          [`usr/lib/keyreeve/${nextVersion}`, 'usr/lib/keyreeve/current'],
        );
      },
    });
    assert.equal(readFileSync(debian.at(settings), 'utf8'), edited);

    const purged = await debian.succeed(['dpkg', '--purge', 'keyreeve']);
    const left = debian.listing().filter((path) => !empty.includes(path));
    assert.deepEqual(
      left.filter((path) => !path.startsWith('var/lib/keyreeve/') && !path.startsWith('keyreeve:')),
      ['etc/keyreeve', 'etc/keyreeve/master-key', 'var/lib/keyreeve'],
    );
    const deleteKept = async (printed: string): Promise<void> => {
      const [, remedy = ''] = /To delete them: (.*)/.exec(printed) ?? [];
      await debian.succeed(['sh', '-c', remedy]);
      assert.deepEqual(debian.listing(), empty);
    };
    await deleteKept(purged);
    // Without data here: a database elsewhere needs the master key.
    await debian.succeed(['dpkg', '--install', first]);
    const purgedAgain = await debian.succeed(['dpkg', '--purge', 'keyreeve']);
    assert.ok(debian.listing().includes('etc/keyreeve/master-key'));
    await deleteKept(purgedAgain);
    // An administrator has moved the key.
    const key = '/etc/keyreeve/master-key';
    await debian.succeed(['sh', '-c', `dpkg --install ${first}; rm ${key}; dpkg --install ${next}; test ! -e ${key}`]);
    await debian.succeed(['dpkg', '--purge', 'keyreeve']);
    assert.deepEqual(debian.listing(), empty);
  });

  const data = { KEYREEVE_DATABASE_URL: 'sqlite:/srv/keyreeve/keyreeve.db', ...ports };

  test('unpacks, upgrades and removes the self-extracting file', async () => {
    const [first = '', next = ''] = versions.map((version) => place(version, `keyreeve-VERSION-linux-${arch}.run`));
    const install = async (file: string, version = ''): Promise<void> => {
      const printed = await debian.succeed(['sh', file, '/opt/keyreeve']);
      assert.equal(printed, `/opt/keyreeve/keyreeve-${version}\n`);
      await debian.succeed(['ln', '-sfn', `keyreeve-${version}`, '/opt/keyreeve/current']);
    };
    await debian.succeed(['mkdir', '-p', '/opt/keyreeve', '/srv/keyreeve']);
    // A changed or incomplete file, and an installed version, change nothing.
    const installed = debian.listing();
    for (const edit of ['truncate --size=-1 /tmp/changed', 'printf x >> /tmp/changed']) {
      await debian.succeed(['sh', '-c', `cp ${first} /tmp/changed; ${edit}`]);
      const { status, stdout, stderr } = await debian.run(['sh', '/tmp/changed', '/opt/keyreeve']);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /is incomplete or was changed/);
    }
    assert.deepEqual(debian.listing(), installed);
    await install(first, versions[0]);
    const complete = debian.listing();
    const { status, stderr } = await debian.run(['sh', first, '/opt/keyreeve']);
    assert.deepEqual([status, stderr], [1, `keyreeve: /opt/keyreeve/keyreeve-${versions[0]} exists\n`]);
    assert.deepEqual(debian.listing(), complete);

    const command = '/opt/keyreeve/current/bin/keyreeve';
    await assertKept({
      serve: () => debian.start(data, [command, 'serve']),
      keyreeve: (args, input = '') => debian.succeed([command, ...args], { input, environment: data }),
      upgrade: async () => {
        await install(next, nextVersion);
        await debian.succeed(['rm', '-r', `/opt/keyreeve/keyreeve-${versions[0]}`]);
      },
    });
    await debian.succeed(['rm', '-r', '/opt/keyreeve', '/srv/keyreeve']);
    assert.deepEqual(debian.listing(), empty);
  });

  test('installs, upgrades and removes the npm package', async () => {
    debian.addNode();
    const withNode = debian.listing();
    await using registry = await newRegistry();
    const { PATH: _, ...environment } = npmEnvironment('/tmp', registry);
    const install = async (version = ''): Promise<void> => {
      const target = `/opt/keyreeve/keyreeve-${version}`;
      await debian.succeed(['mkdir', '-p', target, '/srv/keyreeve']);
      await debian.succeed(['npm', 'install', '--prefix', target, `/root/keyreeve-${version}.tgz`], { environment });
      await debian.succeed(['ln', '-sfn', `keyreeve-${version}`, '/opt/keyreeve/current']);
    };
    await install(versions[0]);
    const command = ['node', '/opt/keyreeve/current/node_modules/keyreeve/bin/keyreeve.js'];
    await assertKept({
      serve: () => debian.start(data, [...command, 'serve']),
      keyreeve: (args, input = '') => debian.succeed([...command, ...args], { input, environment: data }),
      upgrade: async () => {
        await install(nextVersion);
        await debian.succeed(['rm', '-r', `/opt/keyreeve/keyreeve-${versions[0]}`]);
      },
    });
    await debian.succeed(['rm', '-r', '/opt/keyreeve', '/srv/keyreeve']);
    assert.deepEqual(debian.listing(), withNode);
  });
});
