/**
 * The files of the program: in a checkout below `src/`, in a build below `dist/`, which has the same folders and JavaScript for each file
 * that Node runs. `build.ts` makes this file one of its own in the build, so that its place tells where the others are.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** @param path from the folder of the program's files, such as `cli/completion/template.zsh` */
export const ownFile = (path: string): URL => new URL(path, root);

/** @param path of a file that a thread or process runs, without its extension */
export const ownScript = (path: string): URL => ownFile(`${path}${extension}`);

/**
 * SHA-256 of a script, in hexadecimal digits. A build imports its other parts under names with hashes of their contents, so the hash of a
 * script changes with all of them.
 * @throws Error if it cannot be read
 */
export const hashOfScript = (path: string): string => hash('sha256', readFileSync(ownScript(path)));

/** What differs in each version and build. The second one is of `build.ts`. */
const programId = (): string =>
  ['../package.json', 'build-id']
    .map(ownFile)
    .map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
    .join('\0');

const ownId = programId();
const used = new Map<string, string>();

/**
 * Before a thread or process starts.
 * @throws Error if the program is not the one of this process, or the script not the one of the first call: another version has replaced
 *   them, or their files were removed
 */
export function assertSameScript(path: string): void {
  const found = existsSync(ownScript(path)) ? hashOfScript(path) : undefined;
  const first = used.get(path) ?? found;
  if (first === undefined || found !== first || programId() !== ownId)
    throw new Error(`another version of the program has replaced ${path}; restart the service`);
  used.set(path, first);
}
