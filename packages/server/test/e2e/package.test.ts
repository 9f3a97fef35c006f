/**
 * The npm package, packed from this checkout and installed into an empty folder outside it from a registry on the loopback
 * interface.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageLock, type LockFile } from '../../../../scripts/package-manifest.ts';
import { buildPackage, readJson, readPackageManifest } from '../../../../scripts/package.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { startRegistry, type Registry } from './package-registry.ts';
import { basic, bearer, environmentFor, goodPassword, Program, type Exit, type Key } from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const manifest = readPackageManifest(checkout);
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

test('the package contains JavaScript, its licence and its README, and neither sources nor tests', () => {
  const folder = join(built.path, 'built/package');
  const contained = globSync('**', { cwd: folder });
  const unexpected = contained.filter((path) => /\.tsx?$|\.test\.|(?:^|\/)(?:test|test-kit)(?:\/|$)/.test(path));
  assert.deepEqual(unexpected, []);
  const names = [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'docs/deploy.md',
    'ops/prometheus/rules.yml',
    'src/cli/main.js',
    'console/dist/index.html',
  ];
  assert.deepEqual(
    names.filter((name) => !contained.includes(name)),
    [],
  );
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
  // The same line and column as in the source, so that a stack trace names a line of the source.
  const path = 'cli/prove-revocation';
  const [source, script] = [
    readFileSync(join(checkout, `packages/server/src/${path}.ts`), 'utf8'),
    readFileSync(join(folder, `src/${path}.js`), 'utf8'),
  ];
  const place = (text: string): number[] => {
    const earlier = text.slice(0, text.indexOf('throw new UsageError')).split('\n');
    return [earlier.length, earlier.at(-1)?.length ?? 0];
  };
  assert.deepEqual(place(script), place(source));
});

test('after `npm install keyreeve` in an empty folder, a deleted key is rejected', async () => {
  await using registry = await newRegistry();
  using installation = new Installation(registry);
  await installation.npm('install', 'keyreeve');
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
  for (const path of ['/console/', '/docs', '/openapi.json']) {
    assert.equal((await program.call('GET', path, { accept: 'text/html' })).status, 200, path);
  }
  const proofOptions = ['--instances', program.url, '--deletions', '10', '--concurrency', '2'];
  const proof = await installation.run('npx', 'keyreeve', 'prove-revocation', ...proofOptions);
  assert.equal(proof.status, 0, proof.stdout + proof.stderr);
  program.signal('SIGTERM');
  await program.exited();
  // The message shows the last records.
  assert.match(program.stdout.slice(-3_000), /"event":"stopped","isDrained":true/);
});
