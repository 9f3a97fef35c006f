/**
 * The files of the console, which its package contains as built. They are read at the first request and kept in memory,
 * because a folder of a read-only image needs no other place and no build step.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../foundation/log.ts';
import type { BasePath } from '../../http/base-path.ts';
import { FixedContent } from '../../http/fixed-content.ts';

/** Files with other extensions are not served. */
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.woff2', 'font/woff2'],
]);
const indexName = 'index.html';
const styleName = 'app.css';
/** In the page as it is in the folder. */
const folderOfNoBuild = '/console/assets/0/';
const hashChars = 22;

export interface Assets {
  /** A hash of all files, in the URL of each, so that browsers keep the files. */
  readonly build: string;
  readonly page: FixedContent;
  readonly files: ReadonlyMap<string, FixedContent>;
}

export interface ConsoleAssetsOptions {
  readonly log: Pick<Log, 'error'>;
  /** Default: none, because the console has an origin of its own. */
  readonly basePath?: BasePath;
  /** Follows the style of the console. Default: none. */
  readonly style?: string | undefined;
  /** Default: the folder of the package `@keyreeve/console`. */
  readonly folder?: string | undefined;
}

export class ConsoleAssets {
  readonly #options: ConsoleAssetsOptions;
  #reading: Promise<Assets | undefined> | undefined;
  #isReported = false;

  constructor(options: ConsoleAssetsOptions) {
    this.#options = options;
  }

  /** @returns undefined if the files cannot be read; a later call tries again */
  async get(): Promise<Assets | undefined> {
    const reading = (this.#reading ??= this.#read());
    const assets = await reading;
    if (!assets && this.#reading === reading) this.#reading = undefined;
    return assets;
  }

  async #read(): Promise<Assets | undefined> {
    try {
      return await readAssets(this.#options);
    } catch (error) {
      // Once for each process, because any client can cause it.
      if (!this.#isReported) this.#options.log.error({ event: 'console_files_missing', err: error });
      this.#isReported = true;
      return undefined;
    }
  }
}

/** @throws Error if the package is not installed */
const packageFolder = (): string => dirname(fileURLToPath(import.meta.resolve('#console/dist/index.html')));

/** @throws Error if a file cannot be read or the page is missing */
async function readAssets({ folder = packageFolder(), basePath, style = '' }: ConsoleAssetsOptions): Promise<Assets> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && contentTypes.has(extname(entry.name)))
    .map(({ name }) => name);
  const read = await Promise.all(
    names.toSorted().map(async (name) => {
      const bytes = await readFile(join(folder, name));
      return { name, bytes: name === styleName ? Buffer.concat([bytes, Buffer.from(style)]) : bytes };
    }),
  );
  const index = read.find(({ name }) => name === indexName);
  if (!index) throw new Error(`${folder} has no ${indexName}`);
  const build = hashOf(read);
  const folderOfBuild = `/console/assets/${build}/`;
  const page = index.bytes.toString('utf8').replaceAll(folderOfNoBuild, basePath?.with(folderOfBuild) ?? folderOfBuild);
  const files = read.filter((file) => file !== index);
  return {
    build,
    page: contentOf(indexName, Buffer.from(page)),
    files: new Map(files.map(({ name, bytes }) => [name, contentOf(name, bytes)])),
  };
}

/** The lengths separate the files. */
function hashOf(files: readonly { readonly name: string; readonly bytes: Buffer }[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes } of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  return hash.digest('base64url').slice(0, hashChars);
}

const contentOf = (name: string, bytes: Uint8Array): FixedContent =>
  new FixedContent(contentTypes.get(extname(name)) ?? 'application/octet-stream', bytes);
