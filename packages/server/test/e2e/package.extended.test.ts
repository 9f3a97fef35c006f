/** The npm package without its optional dependencies, and where the bundled Node cannot run. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageLock, type LockFile } from '../../../../scripts/package-manifest.ts';
import { buildPackage, readJson, readPackageManifest } from '../../../../scripts/package.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { startRegistry, type Registry } from './package-registry.ts';
import { environmentFor, goodPassword, Program, type Exit } from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const manifest = readPackageManifest(checkout);
const bundled = Object.keys(manifest.optionalDependencies ?? {});

let built: TempFolder;
let archive: string;

before(() => {
  built = newTempFolder();
  archive = buildPackage(checkout, join(built.path, 'built'));
});
after(() => built[Symbol.dispose]());

/** @param replaced folders instead of those of the dependencies in the checkout */
const newRegistry = (replaced?: ReadonlyMap<string, string>): Promise<Registry> =>
  startRegistry({
    checkout,
    manifest,
    archive,
    lock: packageLock(manifest, readJson(join(checkout, 'package-lock.json')) as LockFile),
    ...(replaced && { replaced }),
  });

/** npm and `npx` run with the Node of this test, and never use another registry. */
const environmentOf = (folder: string, registry: Registry): Readonly<Record<string, string>> => ({
  // Time to drain: a test has open connections, and a busy machine needs some of the last quarter to close them.
  ...environmentFor(folder, { KEYREEVE_WORKERS: '2', KEYREEVE_DRAIN_SECONDS: '12' }),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  npm_config_registry: registry.url,
  npm_config_cache: join(built.path, 'npm-cache'),
  npm_config_update_notifier: 'false',
});

/** The commands of the documentation, in an empty folder. */
class Installation implements Disposable {
  readonly #folder = newTempFolder();
  readonly path = this.#folder.path;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(registry: Registry) {
    this.#environment = environmentOf(this.path, registry);
  }

  start(command: string, ...args: readonly string[]): Program {
    const child = spawn(command, args, {
      cwd: this.path,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Program(child, this.path);
  }

  async run(command: string, ...args: readonly string[]): Promise<Exit> {
    return this.start(command, ...args).exited();
  }

  /** @throws Error if the command fails */
  async npm(...args: readonly string[]): Promise<void> {
    const { status, stdout, stderr } = await this.run('npm', ...args);
    assert.equal(status, 0, stdout + stderr);
  }

  /** `npx keyreeve account create`, with a password on standard input. */
  async createAccount(email: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const child = execFile(
        'npx',
        ['keyreeve', 'account', 'create', email, '--password-stdin'],
        { cwd: this.path, env: this.#environment },
        (error, _, stderr) => (error ? reject(new Error(stderr, { cause: error })) : resolve()),
      );
      child.stdin?.end(goodPassword);
    });
  }

  launcher(node: readonly string[]): Promise<Exit> {
    return this.run(process.execPath, ...node, 'node_modules/keyreeve/bin/keyreeve.js', '--version');
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

test('without its optional dependencies, the package names the command that installs them', async () => {
  await using registry = await newRegistry();
  using installation = new Installation(registry);
  await installation.npm('install', '--omit=optional', 'keyreeve');
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
  assert.deepEqual(await installation.launcher(['--import', asNode20]), { status: 0, stdout: '0.1.0\n', stderr: '' });
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
  // Another cache would keep the archives of the other tests.
  await installation.npm('install', 'keyreeve', '--cache', join(folder.path, 'npm-cache'));
  assert.deepEqual(await installation.run('npx', 'keyreeve', '--version'), {
    status: 0,
    stdout: '0.1.0\n',
    stderr: '',
  });
});
