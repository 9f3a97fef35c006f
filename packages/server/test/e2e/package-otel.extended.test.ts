/** The npm package `@keyreeve/otel`, installed beside the package `keyreeve` in an empty folder. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { packageLock, type LockFile, type Manifest } from '../../../../scripts/package-manifest.ts';
import { buildOtelPackage } from '../../../../scripts/package-otel.ts';
import { readJson, readPackageManifest } from '../../../../scripts/package.ts';
import { Collector } from '../../../otel/test/collector.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { startRegistry, type Release } from './package-registry.ts';
import { bearer, environmentFor, Program, type Environment } from './program.ts';
import { checkout, sharedPackage } from './shared-package.ts';

const lock = readJson(join(checkout, 'package-lock.json')) as LockFile;

/** The package and its dependencies, which the lock file of the package `keyreeve` does not have. */
function releasesOf(folder: string): readonly Release[] {
  const manifest = readJson(join(folder, 'package.json')) as Manifest;
  const { packages } = packageLock(manifest, lock, 'packages/otel');
  const dependencies = Object.entries(packages).flatMap(([path, { integrity: _integrity, ...members }]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    const { version } = members;
    return name === '' || version === undefined
      ? []
      : [{ manifest: { ...members, name, version }, path: join(checkout, path) }];
  });
  return [...dependencies, { manifest, path: folder }];
}

test('the installed service loads the installed package from NODE_OPTIONS, and sends spans', async () => {
  using built = newTempFolder();
  const { archive } = await sharedPackage();
  const otel = buildOtelPackage(checkout, join(built.path, 'otel'));
  assert.deepEqual(readdirSync(otel).toSorted(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const manifest = readPackageManifest(checkout);
  const serverLock = packageLock(manifest, lock);
  assert.deepEqual(
    Object.keys(serverLock.packages).filter((path) => /opentelemetry\/(?!api$)/.test(path)),
    [],
    'the SDK is no dependency of the service; the API is one of its metrics library',
  );
  await using registry = await startRegistry({
    checkout,
    manifest,
    archive,
    lock: serverLock,
    further: releasesOf(otel),
  });
  await using collector = await Collector.start();
  using folder = newTempFolder();
  const environment: Environment = {
    ...environmentFor(folder.path, { KEYREEVE_TRACE_RATIO: '1' }),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
    npm_config_registry: registry.url,
    npm_config_cache: join(built.path, 'npm-cache'),
    npm_config_update_notifier: 'false',
  };
  const start = (command: string, args: readonly string[], more: Environment = {}): Program =>
    new Program(
      spawn(command, args, { cwd: folder.path, env: { ...environment, ...more }, stdio: ['ignore', 'pipe', 'pipe'] }),
      folder.path,
    );
  const installed = await start('npm', ['install', 'keyreeve', '@keyreeve/otel']).exited();
  assert.equal(installed.status, 0, installed.stdout + installed.stderr);
  assert.ok(existsSync(join(folder.path, 'node_modules/@keyreeve/otel/dist/register.js')));

  const loaded = { ...collector.environment, NODE_OPTIONS: '--import @keyreeve/otel' };
  await using program = start('npx', ['keyreeve', 'serve'], loaded);
  await program.waitFor('a record “listening”', () => program.stdout.includes('"event":"listening"') || undefined);
  assert.equal((await program.call('GET', '/auth/forward', bearer('krv_none'))).status, 401);
  await until('the span', () => collector.named('GET /auth/forward').length === 1);
  program.signal('SIGTERM');
  const { stdout, stderr } = await program.exited();
  assert.match(stdout, /"event":"stopped","isDrained":true/);
  assert.equal(stderr, '');
});
