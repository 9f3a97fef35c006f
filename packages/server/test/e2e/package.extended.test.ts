/** The npm package without its optional dependencies, where the bundled Node cannot run, and its revocation check. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from '../../src/app/version.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Installation, manifest, newRegistry } from './package-installation.ts';

/** The version, and the build, which the package has. */
function assertShown({ status, stdout, stderr }: { status: number | null; stdout: string; stderr: string }): void {
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, new RegExp(`^${RegExp.escape(version)} \\([0-9a-f]{12}\\)\n$`));
}

const bundled = Object.keys(manifest.optionalDependencies ?? {});

test('the revocation check of the installed package passes', async () => {
  await using registry = await newRegistry();
  using installation = new Installation(registry);
  await installation.install();
  await using program = installation.start('node_modules/.bin/keyreeve', 'serve');
  await program.waitForRecord('listening');
  const options = ['--instances', program.url, '--deletions', '10', '--concurrency', '2'];
  const { status, stdout, stderr } = await installation.run(
    'npx',
    '--no-install',
    'keyreeve',
    'prove-revocation',
    ...options,
  );
  assert.equal(status, 0, stdout + stderr);
});

test('without its optional dependencies, the package names the command that installs them', async () => {
  await using registry = await newRegistry();
  using installation = new Installation(registry);
  await installation.install('--omit=optional');
  const asNode20 = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
  assert.deepEqual(await installation.launcher(['--import', asNode20]), {
    status: 69,
    stdout: '',
    stderr:
      'keyreeve: The Node that Keyreeve includes is not installed. Install it: npm install --include=optional. Or run Keyreeve with Node 24.15 or newer; this is 20.20.2.\n',
  });
  // This Node could run the program, but argon2 is missing, too.
  assert.deepEqual(await installation.launcher([]), {
    status: 69,
    stdout: '',
    stderr:
      'keyreeve: The optional dependencies of Keyreeve are not installed. Install them: npm install --include=optional.\n',
  });
  await installation.npm('install', '--include=optional');
  assertShown(await installation.launcher(['--import', asNode20]));
});

test('where the bundled Node cannot run, npx runs the package with the Node of npm', async () => {
  using folder = newTempFolder();
  // As on musl or without libatomic: the executable exists and fails.
  const replaced = new Map(bundled.map((name) => [name, join(folder.path, name)]));
  for (const [name, path] of replaced) {
    mkdirSync(join(path, 'bin'), { recursive: true });
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '26.10.0', bin: { node: 'bin/node' } }));
    writeFileSync(join(path, 'bin/node'), '#!/bin/sh\nexit 127\n');
    chmodSync(join(path, 'bin/node'), 0o755);
  }
  await using registry = await newRegistry(replaced);
  using installation = new Installation(registry);
  await installation.install();
  assertShown(await installation.run('npx', '--no-install', 'keyreeve', '--version'));
});
