/**
 * `npm start` in a copy of the checkout: it builds what has changed, and starts the service without the console, without the guides or from
 * its sources if it cannot.
 */
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
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Program, startProgram, type Exit } from '../../server/test/e2e/program.ts';
import { SmallDisk, skipWithoutDisks } from '../../server/test/e2e/small-disk.ts';
import { linkPackages } from '../../server/test-kit/program-copy.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { builds, stampName } from '../../server/bin/build-stamp.js';

const checkout = join(import.meta.dirname, '../../..');
const remedy = 'Run `npm ci --include=dev && npm run build`, and start Keyreeve again.';
const notBuilt = {
  console: `keyreeve: The console is not built, so it answers 503. ${remedy}\n`,
  guides: `keyreeve: The documentation is not built, so it answers 503. ${remedy}\n`,
  program: `keyreeve: The program is not built, so it starts from its sources, more slowly. ${remedy}\n`,
};

/** Prints its arguments, the first line of the console's page, and the ending of its own name, instead of starting the service. */
const stub = `import { readFileSync } from 'node:fs';
let page: string;
try {
  page = readFileSync(new URL(import.meta.resolve('#console/dist/index.html')), 'utf8');
} catch (error) {
  page = error.code;
}
process.stdout.write([...process.argv.slice(2), page.split('\\n')[0], import.meta.url.slice(-3)].join(' '));
`;
const built = 'serve <!doctype html> .js';
const otherFiles = [
  'app/processes/verifier',
  'foundation/own-files',
  'foundation/database/sqlite-writer',
  'foundation/crypto/hashing-thread',
  'modules/api-keys/procedures',
];

const inputs = new Set([...builds.console.inputs, ...builds.guides.inputs]);

/** @param server whether the copy has the service instead of the stub */
function copyCheckout(folder: string, server = false): void {
  const parts = [
    'console',
    'guides',
    'contract',
    'client/src',
    'client/package.json',
    server ? 'server' : 'server/bin',
    'server/build.ts',
    'server/package.json',
  ];
  // The console and the guides have inputs in other folders.
  const files = ['package-lock.json', 'scripts', ...[...parts, ...inputs].map((part) => join('packages', part))];
  const filter = (path: string): boolean => !/\/(?:node_modules|test|test-kit|dist)$/.test(path);
  for (const file of files) cpSync(join(checkout, file), join(folder, file), { recursive: true, filter });
  if (!server) {
    const source = join(folder, 'packages/server/src');
    for (const [name, text] of [['cli/main', stub] as const, ...otherFiles.map((path) => [path, ''] as const)]) {
      mkdirSync(dirname(join(source, name)), { recursive: true });
      writeFileSync(join(source, `${name}.ts`), text);
    }
    // The build takes the licence of the list from it.
    const page = 'packages/server/src/modules/accounts/common-passwords/README.md';
    cpSync(join(checkout, page), join(folder, page));
    mkdirSync(join(folder, 'packages/server/revocation-check'));
  }
  linkPackages(folder);
}

const npmStart = (folder: string, env = process.env): Promise<Exit> =>
  new Program(spawn(process.execPath, ['scripts/start.js', 'serve'], { cwd: folder, env }), folder).exited();

/** As `npm ci --omit=dev` leaves it. */
const removeBuilder = (folder: string): void => rmSync(join(folder, 'node_modules/esbuild'));

/** A build replaces its folder. */
const buildsOf = (folder: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    ['console', 'guides', 'server'].map((name) => [name, statSync(join(folder, 'packages', name, 'dist')).ino]),
  );

test('console, guides and program are built at the first start, and again only after a change of an input of theirs', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  const at = (path: string): string => join(folder.path, path);
  const start = async (): Promise<Readonly<Record<string, number>>> => {
    assert.deepEqual(await npmStart(folder.path), { status: 0, stdout: built, stderr: '' });
    return buildsOf(folder.path);
  };
  const append = (path: string) => () => appendFileSync(at(path), '\n');
  const changes: readonly [what: string, change: () => void, ...built: readonly string[]][] = [
    ['a text', append('packages/console/src/text/en.ts'), 'console'],
    ['a time', () => utimesSync(at('packages/console/src/index.html'), 1, 1), 'console'],
    ['a new file', () => writeFileSync(at('packages/console/src/new.ts'), 'export {};'), 'console'],
    ['a deleted file', () => rmSync(at('packages/console/src/new.ts')), 'console'],
    ['the contract', append('packages/contract/src/index.ts'), 'console', 'guides', 'server'],
    ['the build', append('scripts/build.ts'), 'console', 'guides', 'server'],
    ['the lock file', append('package-lock.json'), 'console', 'guides', 'server'],
    ['the output of `npm run console:watch`', () => rmSync(at('packages/console/dist/stamp')), 'console'],
    ['the program', append('packages/server/src/cli/main.ts'), 'server'],
    ['a page of the documents', append('docs/upgrade.md'), 'guides'],
    ['an example of the console', append('docs/forward-auth/nginx.conf'), 'console', 'guides'],
  ];
  let last = await start();
  for (const [what, change, ...expected] of changes) {
    change();
    const now = await start();
    assert.deepEqual(
      Object.keys(now).filter((name) => now[name] !== last[name]),
      expected,
      what,
    );
    last = now;
  }
  // Nothing has changed, so the start does not need esbuild.
  removeBuilder(folder.path);
  assert.deepEqual(await start(), last);
});

test('processes that start together all find a complete build, with the same bytes as elsewhere', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  const starts = await Promise.all(Array.from({ length: 4 }, () => npmStart(folder.path)));
  for (const exit of starts) assert.deepEqual(exit, { status: 0, stdout: built, stderr: '' });
  const home = join(folder.path, 'packages/console');
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith('dist')),
    ['dist'],
  );
  // In another folder, where node_modules has links: so that a release can be built again elsewhere.
  const [here, ofCheckout] = [join(home, 'dist'), builds.console.folder].map((path) => {
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => statSync(join(path, name)).isFile());
    return new Map(files.map((name) => [name, name === stampName || readFileSync(join(path, name), 'utf8')]));
  });
  assert.ok(here?.has('portal/start.js'));
  assert.deepEqual(here, ofCheckout);
});

test('the build gets no secret of the service in its environment', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  const record = `\nwriteFileSync(join(import.meta.dirname, 'environment.json'), JSON.stringify(process.env));\n`;
  appendFileSync(join(folder.path, 'scripts/build.ts'), record);
  const given = { ...process.env, KEYREEVE_MASTER_KEY: 'secret', PGPASSWORD: 'secret' };
  assert.equal((await npmStart(folder.path, given)).stdout, built);
  const ofBuild = JSON.parse(readFileSync(join(folder.path, 'scripts/environment.json'), 'utf8')) as object;
  assert.deepEqual(
    Object.keys(given).filter((name) => name in ofBuild),
    ['PATH'],
  );
});

test('without esbuild, the service starts and the console answers 503 with the command to run', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path, true);
  removeBuilder(folder.path);
  await using program = await startProgram(folder.path, {}, ['scripts/start.js', 'serve']);
  const page = await program.call('GET', '/console/keys', { accept: 'text/html' });
  assert.equal(page.status, 503);
  assert.match(page.text, /^The console is not built\. .* run `npm ci --include=dev && npm run build`/);
  const guide = await program.call('GET', '/docs/upgrade', { accept: 'text/html' });
  assert.deepEqual([guide.status, guide.text.slice(0, 35)], [503, 'The documentation is not built. In ']);
  assert.equal((await program.call('GET', '/health/ready')).status, 200);
  assert.match(program.stderr, /The console cannot be built: Cannot find package 'esbuild'/);
  assert.ok(program.stderr.endsWith(notBuilt.program + notBuilt.console + notBuilt.guides), program.stderr);
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
    assert.equal((await npmStart(folder.path)).stdout, built);
    appendFileSync(join(folder.path, 'packages/console/src/app.tsx'), '\n');
    obstruct(folder.path);
    await assertWithoutConsole(folder.path, message);
  });
}

test('if the program cannot be built, it starts from its sources, not from an earlier build', async () => {
  using folder = newTempFolder();
  copyCheckout(folder.path);
  assert.equal((await npmStart(folder.path)).stdout, built);
  appendFileSync(join(folder.path, 'packages/server/src/cli/main.ts'), '\n');
  writeFileSync(join(folder.path, 'packages/server/src/foundation/own-files.ts'), 'const = 1;');
  const { status, stdout, stderr } = await npmStart(folder.path);
  assert.deepEqual([status, stdout], [0, built.replace('.js', '.ts')]);
  assert.match(stderr, /own-files\.ts:1:6: ERROR: Expected identifier but found "="/);
  assert.ok(stderr.endsWith(notBuilt.program), stderr);
});

test(
  'on a read-only disk, the service starts, and no earlier build is served',
  { skip: skipWithoutDisks() },
  async () => {
    using disk = new SmallDisk();
    copyCheckout(disk.path);
    assert.equal((await npmStart(disk.path)).stdout, built);
    appendFileSync(join(disk.path, 'packages/console/src/app.tsx'), '\n');
    disk.makeReadOnly();
    await assertWithoutConsole(disk.path, /EROFS/);
  },
);

async function assertWithoutConsole(folder: string, message: RegExp): Promise<void> {
  const { status, stdout, stderr } = await npmStart(folder);
  assert.deepEqual([status, stdout], [0, 'serve ERR_PACKAGE_PATH_NOT_EXPORTED .js']);
  assert.match(stderr, message);
  assert.ok(stderr.endsWith(notBuilt.console), stderr);
}
