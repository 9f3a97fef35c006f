/**
 * The files of a release: the npm package, its dependencies in CycloneDX, the section of the changelog, and their checksums.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packageLock, type LockFile } from './package-manifest.ts';
import { readJson, readPackageManifest } from './package.ts';
import { git } from './run-files.ts';

/**
 * Builds the package in two new clones of the commit, with the scripts of each clone.
 * @param folder a new folder, which gets the files
 * @throws Error if the folder exists, a command fails, or the two packages differ
 */
export function writeRelease(root: string, folder: string): void {
  mkdirSync(folder);
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-release-'));
  try {
    const [archive = '', again = ''] = ['one', 'two'].map((name) => buildInClone(root, join(temporary, name)));
    if (!readFileSync(archive).equals(readFileSync(again))) {
      throw new Error('Two builds of the package differ, so a release would not be reproducible.');
    }
    const name = basename(archive);
    copyFileSync(archive, join(folder, name));
    writeFileSync(
      join(folder, name.replace(/\.tgz$/, '.cdx.json')),
      billOfMaterials(root, join(temporary, 'keyreeve')),
    );
    writeFileSync(join(folder, 'CHANGES.md'), changesOf(root));
    writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns the path of the package */
function buildInClone(root: string, clone: string): string {
  git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
  const built = join(clone, '..', `${basename(clone)}-built`);
  return run(process.execPath, ['--no-warnings', join(clone, 'scripts/package.ts'), built], clone).trim();
}

/**
 * Of the dependencies that are installed with the package. The file has no time and no serial number, so builds are equal.
 * @param folder a new folder with the name of the package, which npm takes as the name of the described software
 */
function billOfMaterials(root: string, folder: string): string {
  mkdirSync(folder);
  const manifest = readPackageManifest(root);
  const lock = packageLock(manifest, readJson(join(root, 'package-lock.json')) as LockFile);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const text = run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], folder);
  const { serialNumber: _serial, ...document } = JSON.parse(text) as { serialNumber: string; metadata: object };
  const metadata = Object.fromEntries(Object.entries(document.metadata).filter(([name]) => name !== 'timestamp'));
  return `${JSON.stringify({ ...document, metadata }, null, 2)}\n`;
}

/** The section of the version, without its heading. */
function changesOf(root: string): string {
  const { version } = readPackageManifest(root);
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no entry “## ${version}”. Write one.`);
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}

/** In the format of `sha256sum --check`. */
const checksumsOf = (folder: string): string =>
  readdirSync(folder)
    .toSorted()
    .map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`)
    .join('');

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function run(command: string, args: readonly string[], folder: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
