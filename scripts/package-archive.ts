/** Packs an npm package that a script builds, and runs the command line of a script that builds an archive. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Writes the files of a package to a folder. */
export type Build = (root: string, folder: string) => void;

/**
 * @param folder a new folder, which gets the unpacked package in `package/` and the archive
 * @returns the path of the archive
 * @throws Error if the folder exists, the build fails, or npm fails
 */
export function buildArchive(root: string, folder: string, build: Build): string {
  // Not recursive: an existing folder, whose files could get into the package, is an error.
  mkdirSync(folder);
  const source = join(folder, 'package');
  build(root, source);
  const { status, stdout, stderr, error } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', source], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm pack: ${error?.message ?? stderr}`);
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  return join(folder, basename(packed?.filename ?? ''));
}

/** For a release: builds the archive in the folder of the command line, and prints its path. */
export const runPackageCommand = (build: Build): void =>
  runArchiveCommand((root, folder) => buildArchive(root, folder, build));

/** As `runPackageCommand`. @param build returns the path of the archive */
export function runArchiveCommand(build: (root: string, folder: string) => string): void {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('name a new folder');
  process.stdout.write(`${build(fileURLToPath(new URL('..', import.meta.url)), folder)}\n`);
}
