/** The files of the repository, for tests of their text. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Relative to the repository, with `/`. */
export const paths: readonly string[] = globSync('**', {
  cwd: root,
  exclude: ['**/node_modules', '**/data', '**/__pycache__', 'packages/{console,guides,server}/dist*', 'dist', '.git'],
}).filter((path) => statSync(join(root, path)).isFile());

/** Path → text. */
export const texts: ReadonlyMap<string, string> = new Map(
  paths
    .filter((path) => !/\.(?:png|ico|bin|gz|zip|db)$/.test(path))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);
if (!texts.has('README.md') || !texts.has('packages/server/src/app/service.ts')) throw new Error('files are missing');
