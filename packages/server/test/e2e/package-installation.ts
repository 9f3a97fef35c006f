/** The npm package in an empty folder outside the checkout, installed from its archive, with a registry on the loopback interface. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { packageLock, type LockFile } from '../../../../scripts/package-manifest.ts';
import { readJson, readPackageManifest } from '../../../../scripts/package.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { startRegistry, type Registry } from './package-registry.ts';
import { environmentFor, goodPassword, Program, type Exit } from './program.ts';
import { checkout, sharedPackage } from './shared-package.ts';

export const manifest = readPackageManifest(checkout);

/** @param replaced folders instead of those of the dependencies in the checkout */
/** With the dependencies of the package. */
export const newRegistry = (replaced?: ReadonlyMap<string, string>): Promise<Registry> =>
  startRegistry({
    checkout,
    locks: [packageLock(manifest, readJson(join(checkout, 'package-lock.json')) as LockFile)],
    ...(replaced && { replaced }),
  });

/** npm and `npx` run with the Node of this test, and never use another registry. */
export const npmEnvironment = (folder: string, registry: Registry): Readonly<Record<string, string>> => ({
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  npm_config_registry: registry.url,
  npm_config_cache: join(folder, '.npm-cache'),
  npm_config_update_notifier: 'false',
});

/** The commands of the documentation, in an empty folder. */
export class Installation implements Disposable {
  readonly #folder = newTempFolder();
  readonly path = this.#folder.path;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(registry: Registry) {
    this.#environment = {
      ...environmentFor(this.path, { KEYREEVE_VERIFY_PORT: '0' }),
      ...npmEnvironment(this.path, registry),
    };
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

  /** Installs the archive of the package. @throws Error if the command fails */
  async install(...options: readonly string[]): Promise<void> {
    await this.npm('install', ...options, (await sharedPackage()).archive);
  }

  /** @throws Error if the command fails */
  async npm(...args: readonly string[]): Promise<void> {
    const { status, stdout, stderr } = await this.run('npm', ...args);
    assert.equal(status, 0, stdout + stderr);
  }

  /** `keyreeve account create`, with a password on standard input. */
  async createAccount(email: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const child = execFile(
        'npx',
        ['--no-install', 'keyreeve', 'account', 'create', email, '--password-stdin'],
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
