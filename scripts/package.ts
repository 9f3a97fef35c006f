/**
 * Builds the npm package `keyreeve`: the program, the console and the guides as builds, and the documents. See
 * docs/decisions/14-telemetry-tests-releases.md.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildConsole } from '../packages/console/build.ts';
import { buildGuides } from '../packages/guides/build.ts';
import { buildProgram, external } from '../packages/server/build.ts';
import { buildArchive, runPackageCommand } from './package-archive.ts';
import { packageManifest, type Manifest } from './package-manifest.ts';
import { withSecurityContact } from './package-repository.ts';

/** Files and folders of the checkout, and where the package has them. */
const copied: Readonly<Record<string, string>> = {
  'packages/server/bin': 'bin',
  'packages/server/README.md': 'README.md',
  docs: 'docs',
  ops: 'ops',
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
};
/** Files and folders that the program does not need. */
const left = /[\\/](?:images|tsconfig\.json|rules\.test\.yml)$/;

/**
 * @param folder a new folder, which gets the unpacked package in `package/` and the archive
 * @returns the path of the archive
 * @throws Error if the folder exists, a source cannot be converted, or npm fails
 */
export const buildPackage = (root: string, folder: string): string => buildArchive(root, folder, writePackageFiles);

/** The files of the unpacked package. */
export function writePackageFiles(root: string, target: string): void {
  for (const [from, to] of Object.entries(copied)) {
    mkdirSync(dirname(join(target, to)), { recursive: true });
    // Without links, which would name the checkout: the chart has some to files beside it.
    cpSync(join(root, from), join(target, to), {
      recursive: true,
      dereference: true,
      filter: (path) => !left.test(path),
    });
  }
  writeFileSync(join(target, 'SECURITY.md'), withSecurityContact(readFileSync(join(root, 'SECURITY.md'), 'utf8')));
  buildProgram(join(target, 'dist'), join(root, 'packages/server'));
  buildConsole(join(target, 'console/dist'));
  buildGuides(join(target, 'guides/dist'));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(readPackageManifest(root), null, 2)}\n`);
}

export const readPackageManifest = (root: string): Manifest =>
  packageManifest(
    readJson(join(root, 'packages/server/package.json')) as Manifest,
    readJson(join(root, 'package.json')) as Manifest,
    external,
  );

export const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

if (import.meta.main) runPackageCommand(writePackageFiles);
