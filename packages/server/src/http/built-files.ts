/**
 * Files that a build has made, such as those of the console. They are read at the first request and kept in memory, because a folder of a
 * read-only image needs no other place and no build step.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { DomainError } from '../foundation/errors.ts';
import { FixedContent, type ContentRequest } from './fixed-content.ts';
import type { RouteResponse } from './response.ts';

export interface BuiltFilesOptions {
  /** @returns the folder with the files. @throws Error if the package is not installed */
  readonly folder: () => string;
  /** Called with the error at the first failure of the process: any client can cause one. */
  readonly onMissing: (error: unknown) => void;
  /** Follows the style sheet of this name. Default: none. */
  readonly style?: { readonly name: string; readonly text: string } | undefined;
  /** @returns the page for clients, with the id of the build in the URLs of the files that it loads */
  readonly edit: (page: string, name: string, id: string) => string;
  /** Whether files in folders are served, and files of other kinds as text. Default: neither. */
  readonly isTree?: boolean;
}

/** By name, such as `tutorials/gin.html`. */
export type FilesByName = ReadonlyMap<string, FixedContent>;

export interface Build {
  /** A hash of all files. It is in the URL of those that pages load, so that browsers keep them. */
  readonly id: string;
  readonly files: FilesByName;
}

const textType = 'text/plain; charset=utf-8';
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.txt', textType],
  ['.svg', 'image/svg+xml'],
  ['.webmanifest', 'application/manifest+json'],
  ['.woff2', 'font/woff2'],
]);
/** Says that the build is that of the sources (`bin/build-stamp.js`). */
const stampName = 'stamp';
const indexName = 'index.html';
const hashChars = 22;

export class BuiltFiles {
  readonly #options: BuiltFilesOptions;
  #reading: Promise<Build | undefined> | undefined;
  #isReported = false;

  constructor(options: BuiltFilesOptions) {
    this.#options = options;
  }

  /** @returns undefined if the files cannot be read; a later call tries again */
  async get(): Promise<Build | undefined> {
    const reading = (this.#reading ??= this.#read());
    const build = await reading;
    if (!build && this.#reading === reading) this.#reading = undefined;
    return build;
  }

  /**
   * A file that pages load, such as a script.
   * @param id in the URL of the request
   * @throws DomainError `not_found`
   */
  async respond(id: string, name: string, request: ContentRequest): Promise<RouteResponse> {
    const build = await this.get();
    const file = name.endsWith('.html') ? undefined : build?.files.get(name);
    if (!build || !file) throw new DomainError('not_found');
    // During a rolling upgrade, the page may come from an instance with another build.
    const isCurrent = id === build.id;
    return file.respond(request, { cacheControl: isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache' });
  }

  async #read(): Promise<Build | undefined> {
    try {
      return await readBuild(this.#options);
    } catch (error) {
      if (!this.#isReported) this.#options.onMissing(error);
      this.#isReported = true;
      return undefined;
    }
  }
}

/**
 * Only files of the build run or are loaded, a page sends requests only to its origin, and a script cannot turn text into HTML (Trusted
 * Types).
 * @param ancestors the origin of the pages that can show the page in a frame
 */
export const pagePolicyFor = (ancestors: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

/** No page can show this one in a frame. */
export const pagePolicy = pagePolicyFor("'none'");

/** @param what such as `The console is` */
export const notBuilt = (what: string): RouteResponse => ({
  status: 503,
  contentType: 'text/plain; charset=utf-8',
  body:
    `${what} not built. In a checkout of Keyreeve, run \`npm ci --include=dev && npm run build\`, and start Keyreeve again. ` +
    'Otherwise install Keyreeve again. The API works without this.\n',
});

/** @throws Error if a file cannot be read or the first page is missing */
async function readBuild({ folder, style, edit, isTree = false }: BuiltFilesOptions): Promise<Build> {
  const root = folder();
  const entries = await readdir(root, { withFileTypes: true, recursive: isTree });
  const names = entries
    .filter((entry) => entry.isFile() && entry.name !== stampName && (isTree || contentTypes.has(extname(entry.name))))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    );
  if (!names.includes(indexName)) throw new Error(`${root} has no ${indexName}`);
  const read = await Promise.all(
    names.toSorted().map(async (name) => {
      const bytes = await readFile(join(root, name));
      return { name, bytes: name === style?.name ? Buffer.concat([bytes, Buffer.from(style.text)]) : bytes };
    }),
  );
  const id = hashOf(read);
  const files = read.map(({ name, bytes }) => {
    const extension = extname(name);
    const content = extension === '.html' ? edit(bytes.toString('utf8'), name, id) : bytes;
    return [name, new FixedContent(contentTypes.get(extension) ?? textType, content)] as const;
  });
  return { id, files: new Map(files) };
}

/** The lengths separate the files. */
function hashOf(files: readonly { readonly name: string; readonly bytes: Buffer }[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes } of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  return hash.digest('base64url').slice(0, hashChars);
}
