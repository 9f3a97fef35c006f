/** The npm package `@keyreeve/otel`, installed beside the package `keyreeve` in an empty folder. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildArchive } from '../../../../scripts/package-archive.ts';
import { packageLock, type LockFile, type Manifest } from '../../../../scripts/package-manifest.ts';
import { buildOtelPackage } from '../../../../scripts/package-otel.ts';
import { readJson, readPackageManifest } from '../../../../scripts/package.ts';
import { Collector } from '../../../otel/test/collector.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { npmEnvironment } from './package-installation.ts';
import { startRegistry } from './package-registry.ts';
import { bearer, environmentFor, Program, type Environment } from './program.ts';
import { checkout, sharedPackage } from './shared-package.ts';

const lock = readJson(join(checkout, 'package-lock.json')) as LockFile;

test('the installed service loads the installed package from NODE_OPTIONS, and sends spans', async () => {
  using built = newTempFolder();
  const { archive } = await sharedPackage();
  const otel = buildArchive(checkout, join(built.path, 'otel'), buildOtelPackage);
  const unpacked = join(built.path, 'otel/package');
  assert.deepEqual(readdirSync(unpacked).toSorted(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const serverLock = packageLock(readPackageManifest(checkout), lock);
  assert.deepEqual(
    Object.keys(serverLock.packages).filter((path) => /opentelemetry\/(?!api$)/.test(path)),
    [],
    'the SDK is no dependency of the service; the API is one of its metrics library',
  );
  await using registry = await startRegistry({
    checkout,
    locks: [serverLock, packageLock(readJson(join(unpacked, 'package.json')) as Manifest, lock, 'packages/otel')],
  });
  await using collector = await Collector.start();
  using folder = newTempFolder();
  const environment: Environment = {
    ...environmentFor(folder.path, { KEYREEVE_TRACE_RATIO: '1' }),
    ...npmEnvironment(built.path, registry),
  };
  const start = (command: string, args: readonly string[], more: Environment = {}): Program =>
    new Program(
      spawn(command, args, { cwd: folder.path, env: { ...environment, ...more }, stdio: ['ignore', 'pipe', 'pipe'] }),
      folder.path,
    );
  const installed = await start('npm', ['install', archive, otel]).exited();
  assert.equal(installed.status, 0, installed.stdout + installed.stderr);
  assert.ok(existsSync(join(folder.path, 'node_modules/@keyreeve/otel/dist/register.js')));

  const loaded = { ...collector.environment, NODE_OPTIONS: '--import @keyreeve/otel' };
  await using program = start('node_modules/.bin/keyreeve', ['serve'], loaded);
  await program.waitFor('a record “listening”', () => program.stdout.includes('"event":"listening"') || undefined);
  assert.equal((await program.call('GET', '/auth/forward', bearer('krv_none'))).status, 401);
  await until('the span', () => collector.named('GET /auth/forward').length === 1);
  program.signal('SIGTERM');
  const { stdout, stderr } = await program.exited();
  assert.match(stdout, /"event":"stopped","isDrained":true/);
  assert.equal(stderr, '');
});
