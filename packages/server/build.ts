/**
 * Builds the program for `npm start`, `npm run build` and packages: JavaScript with the packages that it uses, in few files, because loading
 * hundreds of them is most of the time and memory of a start (docs/decisions/14-telemetry-tests-releases.md).
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as esbuild from 'esbuild';
import { licencesOf } from '../../scripts/licences.ts';

const ownFolder = import.meta.dirname;
/** Files that Node or `ownFile` finds by their path. */
const entryPoints = [
  'app/processes/verifier',
  'cli/main',
  'foundation/own-files',
  'foundation/database/sqlite-writer',
  'foundation/crypto/hashing-thread',
  'modules/api-keys/procedures',
];
/** Packages with libraries of the platform, and one that is loaded with the first public key: npm installs them. */
export const external = ['@node-rs/argon2', '@node-rs/bcrypt', '@noble/curves'];
/** An optional package of `pg`, which is not used. */
const unused = ['pg-native'];

/**
 * Writes all files of the program to a new folder.
 * @param packageFolder with the sources
 * @throws Error if a source has an error, or a file cannot be written
 */
export function buildProgram(folder: string, packageFolder = ownFolder): void {
  const source = join(packageFolder, 'src');
  // Not the folder itself: the paths in the source maps would depend on it, and two builds of a release on their folders.
  const outdir = join(packageFolder, 'dist');
  const { metafile, outputFiles } = esbuild.buildSync({
    absWorkingDir: packageFolder,
    entryPoints: entryPoints.map((path) => `src/${path}.ts`),
    outbase: 'src',
    outdir,
    write: false,
    bundle: true,
    external: [...external.flatMap((name) => [name, `${name}/*`]), ...unused],
    // A file that is loaded later, such as the driver of PostgreSQL, stays apart.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    preserveSymlinks: true,
    format: 'esm',
    platform: 'node',
    target: 'node24.15',
    // CommonJS packages load modules of Node with `require`.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
    sourcemap: 'linked',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const place = (path: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  const id = createHash('sha256');
  for (const [path, contents] of [
    ...outputFiles.map((file) => [relative(outdir, file.path), file.contents] as const),
    ...assetsOf(source).map((asset) => [asset, readFileSync(join(source, asset))] as const),
  ].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    writeFileSync(place(path), contents);
    id.update(`${path}\0${contents.length}\0`).update(contents);
  }
  // As of src/app/version.ts.
  writeFileSync(join(folder, 'build-id'), id.digest('hex').slice(0, 12));
  const licences = licencesOf(packagesIn(Object.keys(metafile.inputs)));
  writeFileSync(join(folder, 'licences.txt'), `${licences}\n${'-'.repeat(80)}\n\n${dataLicence(source)}`);
}

/** The program contains data of others: the list of common passwords. */
function dataLicence(source: string): string {
  const page = readFileSync(join(source, 'modules/accounts/common-passwords/README.md'), 'utf8');
  const [, notice] = /\*\*Licence of `digests\.bin`\.\*\* ([^]*)$/.exec(page) ?? [];
  if (notice === undefined) throw new Error('the list of common passwords states no licence');
  return `modules/accounts/common-passwords/digests.bin\n\n${notice}`;
}

/** Pages, migrations and other files that the program reads. */
const assetsOf = (source: string): string[] =>
  readdirSync(source, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name).slice(source.length + 1);
    return entry.isFile() && !/\.ts$|(?:^|[\\/])test[\\/]/.test(path) ? [path] : [];
  });

/** @returns the names of the packages, sorted */
const packagesIn = (inputs: readonly string[]): string[] =>
  [
    ...new Set(
      inputs.flatMap((path) => /^.*node_modules\/(?!@keyreeve\/)((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    ),
  ].toSorted();
