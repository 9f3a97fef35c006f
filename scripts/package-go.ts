/**
 * Builds the archive of the Go module: what the root of its repository has at the tag of the release, with the final path of the module
 * (`package-names.ts`).
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runArchiveCommand } from './package-archive.ts';
import { goModulePath } from './package-names.ts';
import { releaseSeconds } from './release-time.ts';
import { tarOf } from './tar.ts';
import { versionOf } from './version-places.ts';

/** Tests need the service; the examples of the documentation do not. */
const isReleased = (name: string): boolean =>
  ['go.mod', 'README.md', 'example_test.go'].includes(name) || /(?<!_test)\.go$/.test(name);

/** @param folder a new folder, which gets the archive @returns its path @throws Error if the folder exists, or for a malformed path */
export function buildGoModule(root: string, folder: string, modulePath = goModulePath()): string {
  mkdirSync(folder);
  const [source, version] = [join(root, 'packages/go'), `v${versionOf(root)}`];
  const files = readdirSync(source)
    .filter(isReleased)
    .map((name) => [name, withPath(readFileSync(join(source, name), 'utf8'), modulePath)] as const);
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8');
  const name = `keyreeve-go-${version}`;
  const entries = [...files, ['LICENSE', licence] as const].map(([path, text]) => ({
    path: `${name}/${path}`,
    kind: 'file' as const,
    content: Buffer.from(text),
  }));
  const archive = join(folder, `${name}.tar.gz`);
  writeFileSync(archive, gzipSync(tarOf(entries, releaseSeconds(root)), { level: 9 }));
  return archive;
}

/** Lines of imports, the line of `go.mod`, and the requirement in the README. */
const withPath = (text: string, path: string): string =>
  text
    .replaceAll(/^(module )keyreeve$/gm, `$1${path}`)
    .replaceAll(/^(\s+)"keyreeve"$/gm, `$1"${path}"`)
    .replaceAll(/(-require )keyreeve(@\S+ -replace )keyreeve=/g, `$1${path}$2${path}=`);

if (import.meta.main) runArchiveCommand((root, folder) => buildGoModule(root, folder));
