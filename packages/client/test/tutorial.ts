/** What the tutorials with this library need to run as they stand in an empty folder: its archive, a registry, and Node. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildArchive } from '../../../scripts/package-archive.ts';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { packageLock, type LockFile, type Manifest } from '../../../scripts/package-manifest.ts';
import { readJson } from '../../../scripts/package.ts';
import { programMsMax } from '../../server/test-kit/time-limits.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { placedIn, root } from '../../server/test/docs/shell-blocks.ts';
import { npmEnvironment } from '../../server/test/e2e/package-installation.ts';
import { startRegistry, type Registry } from '../../server/test/e2e/package-registry.ts';

/** Of the tutorials, which say “Node 20 or newer”. `.ci/run` installs each. */
export const nodeVersions = [20, 22, 24] as const;

/** @returns undefined if it is not installed, which is an error under CI */
export function nodeOfVersion(version: number): string | undefined {
  const path = join(root, `.ci/tools/node_modules/node-${version}/bin/node`);
  return existsSync(path) || process.env['CI'] === 'true' ? path : undefined;
}

/** A folder in which the blocks of a tutorial run, and what the tests replace in them. */
export class TutorialFolder implements AsyncDisposable {
  readonly path: string;
  readonly #folder = newTempFolder();
  readonly #registry: Registry;
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(registry: Registry, node: string) {
    this.path = this.#folder.path;
    this.#registry = registry;
    const own = npmEnvironment(this.path, registry);
    this.#environment = { ...own, PATH: `${dirname(node)}${delimiter}${own['PATH']}` };
  }

  /**
   * @param node an executable, which is the `node` of all blocks, and runs npm
   * @param locks of other packages in the registry, with paths in the checkout
   */
  static async create(node = process.execPath, locks: readonly LockFile[] = []): Promise<TutorialFolder> {
    return new TutorialFolder(await newRegistry(locks), node);
  }

  /** For the first block of a shell. */
  get exports(): string {
    return Object.entries(this.#environment)
      .map(([name, value]) => `export ${name}='${value}'\n`)
      .join('');
  }

  /** Puts the archive of the library where `npm run packages` would. @param others archives beside it */
  addArchive(...others: readonly string[]): void {
    mkdirSync(join(this.path, 'dist'));
    for (const archive of [(built ??= buildClient()), ...others])
      copyFileSync(archive, join(this.path, 'dist', basename(archive)));
  }

  /** Runs the commands that install the packages. */
  async run(block: string): Promise<void> {
    const script = this.exports + placedIn(this.path, block);
    await promisify(execFile)('/bin/sh', ['-eu', '-c', script], {
      env: { ...process.env, KEYREEVE: root },
      timeout: programMsMax,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registry[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

let built: string | undefined;

/** Once for all tests of a process. */
function buildClient(): string {
  const folder = newTempFolder();
  process.once('exit', () => folder[Symbol.dispose]());
  return buildArchive(root, join(folder.path, 'client'), buildClientPackage);
}

/** With Express, lean-qr and their dependencies, the packages of `locks`, and no package of this project. */
function newRegistry(locks: readonly LockFile[]): Promise<Registry> {
  const read = (path: string) => readJson(join(root, path)) as Manifest & { devDependencies: Record<string, string> };
  const manifest = read('packages/client/package.json');
  const { express = '' } = manifest.devDependencies;
  const { 'lean-qr': leanQr = '' } = read('packages/console/package.json').devDependencies;
  const lock = readJson(join(root, 'package-lock.json')) as LockFile;
  return startRegistry({
    checkout: root,
    locks: [
      packageLock({ ...manifest, dependencies: { express, 'lean-qr': leanQr } }, lock, 'packages/client'),
      ...locks,
    ],
  });
}
