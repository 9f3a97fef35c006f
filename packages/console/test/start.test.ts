/** `npm start` in a copy of the checkout: it builds the console if an input has changed, and starts the service without it if it cannot. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Program, startProgram, type Exit } from '../../server/test/e2e/program.ts';
import { SmallDisk, skipWithoutDisks } from '../../server/test/e2e/small-disk.ts';
import { linkPackages } from '../../server/test-kit/program-copy.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { dist, stampName } from '../stamp.ts';

const checkout = join(import.meta.dirname, '../../..');
const remedy = 'keyreeve: It answers 503. Run `npm ci --include=dev && npm run console`, and start Keyreeve again.\n';

/** Prints its arguments and the first line of the console's page, instead of starting the service. */
const stub = `import { readFileSync } from 'node:fs';
let page;
try {
  page = readFileSync(new URL(import.meta.resolve('@keyreeve/console/dist/index.html')), 'utf8');
} catch (error) {
  page = error.code;
}
process.stdout.write([...process.argv.slice(2), page.split('\\n')[0]].join(' '));
`;
const withConsole = 'serve <!doctype html>';

/** @param server whether the copy has the service instead of the stub */
function copyCheckout(folder: string, server = false): void {
  cpSync(join(checkout, 'package-lock.json'), join(folder, 'package-lock.json'));
  const parts = ['console', 'contract', server ? 'server' : 'server/bin', 'server/package.json'];
  for (const part of parts) {
    const filter = (path: string): boolean => !/\/(?:node_modules|test|test-kit|dist)$/.test(path);
    cpSync(join(checkout, 'packages', part), join(folder, 'packages', part), { recursive: true, filter });
  }
  if (!server) {
    mkdirSync(join(folder, 'packages/server/src/cli'), { recursive: true });
    writeFileSync(join(folder, 'packages/server/src/cli/main.ts'), stub);
  }
  linkPackages(folder);
}

const npmStart = (folder: string): Promise<Exit> =>
  new Program(spawn(process.execPath, ['packages/console/start.js', 'serve'], { cwd: folder }), folder).exited();

/** As `npm ci --omit=dev` leaves it. */
const removeBuilder = (folder: string): void => rmSync(join(folder, 'node_modules/esbuild'));

/** A build replaces the folder. */
const buildOf = (folder: string): number => statSync(join(folder, 'packages/console/dist')).ino;

test('the console is built at the first start, and again only after a change of an input', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  const at = (path: string): string => join(folder.path, path);
  const start = async (): Promise<number> => {
    assert.deepEqual(await npmStart(folder.path), { status: 0, stdout: withConsole, stderr: '' });
    return buildOf(folder.path);
  };
  const changes: readonly [string, () => void][] = [
    ['nothing before the first build', () => undefined],
    ['a text', () => appendFileSync(at('packages/console/src/text/en.ts'), '\n')],
    ['a time', () => utimesSync(at('packages/console/src/index.html'), 1, 1)],
    ['a new file', () => writeFileSync(at('packages/console/src/new.ts'), 'export {};')],
    ['a deleted file', () => rmSync(at('packages/console/src/new.ts'))],
    ['the contract', () => appendFileSync(at('packages/contract/src/index.ts'), '\n')],
    ['the build', () => appendFileSync(at('packages/console/build.ts'), '\n')],
    ['the lock file', () => appendFileSync(at('package-lock.json'), '\n')],
    ['the output of `npm run console -- --watch`', () => rmSync(at('packages/console/dist/stamp'))],
  ];
  let last: number | undefined;
  for (const [what, change] of changes) {
    change();
    const built = await start();
    assert.notEqual(built, last, what);
    last = built;
  }
  // Nothing has changed, so the start does not need esbuild.
  removeBuilder(folder.path);
  assert.equal(await start(), last);
});

test('processes that start together all find a complete build, with the same bytes as elsewhere', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  const starts = await Promise.all(Array.from({ length: 4 }, () => npmStart(folder.path)));
  for (const exit of starts) assert.deepEqual(exit, { status: 0, stdout: withConsole, stderr: '' });
  const home = join(folder.path, 'packages/console');
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith('dist')),
    ['dist'],
  );
  // In another folder, where node_modules has links: so that a release can be built again elsewhere.
  const [built, ofCheckout] = [join(home, 'dist'), dist].map(
    (path) =>
      new Map(readdirSync(path).map((name) => [name, name === stampName || readFileSync(join(path, name), 'utf8')])),
  );
  assert.deepEqual(built, ofCheckout);
});

test('without esbuild, the service starts and the console answers 503 with the command to run', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path, true);
  removeBuilder(folder.path);
  await using program = await startProgram(folder.path, {}, ['packages/console/start.js', 'serve']);
  const page = await program.call('GET', '/console/keys', { accept: 'text/html' });
  assert.equal(page.status, 503);
  assert.match(page.text, /^The console is not built\. .* run `npm ci --include=dev && npm run console`/);
  assert.equal((await program.call('GET', '/health/ready')).status, 200);
  assert.match(program.stderr, /The console cannot be built: Cannot find package 'esbuild'/);
  assert.ok(program.stderr.endsWith(remedy), program.stderr);
});

const obstacles: readonly (readonly [string, (folder: string) => void, RegExp])[] = [
  ['without esbuild', removeBuilder, /Cannot find package 'esbuild'/],
  [
    'with an error in a source',
    (folder) => appendFileSync(join(folder, 'packages/console/src/app.tsx'), '\nconst = 1;\n'),
    /src\/app\.tsx:\d+:6: ERROR: Expected identifier but found "="/,
  ],
];
for (const [what, obstruct, message] of obstacles) {
  test(`${what}, no earlier build is served`, async () => {
    using folder = newTempFolder();
    copyCheckout(folder.path);
    assert.equal((await npmStart(folder.path)).stdout, withConsole);
    appendFileSync(join(folder.path, 'packages/console/src/app.tsx'), '\n');
    obstruct(folder.path);
    await assertWithoutConsole(folder.path, message);
  });
}

test(
  'on a read-only disk, the service starts, and no earlier build is served',
  { skip: skipWithoutDisks() },
  async () => {
    using disk = new SmallDisk();
    copyCheckout(disk.path);
    assert.equal((await npmStart(disk.path)).stdout, withConsole);
    appendFileSync(join(disk.path, 'packages/console/src/app.tsx'), '\n');
    disk.makeReadOnly();
    await assertWithoutConsole(disk.path, /EROFS/);
  },
);

async function assertWithoutConsole(folder: string, message: RegExp): Promise<void> {
  const { status, stdout, stderr } = await npmStart(folder);
  assert.deepEqual([status, stdout], [0, 'serve ERR_PACKAGE_PATH_NOT_EXPORTED']);
  assert.match(stderr, message);
  assert.ok(stderr.endsWith(remedy), stderr);
}
