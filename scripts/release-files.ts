/**
 * The files of a release: the npm packages, the dependencies of each in CycloneDX, the wheel and the source archive of the Python
 * library, the Go module, the program for each platform, the section of the changelog, and the checksums of these files.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { packageLock, type LockFile, type Manifest } from './package-manifest.ts';
import { readJson, readPackageManifest } from './package.ts';
import { git } from './run-files.ts';

/** The folder of each npm package in the workspace, and the script that builds the package and prints the path of the archive. */
export const releasedPackages: Readonly<Record<string, string>> = {
  'packages/server': 'package.ts',
  'packages/client': 'package-client.ts',
  'packages/otel': 'package-otel.ts',
};

/** Each builds one file or several, and prints their paths, one a line. */
export const otherScripts = ['package-python.ts', 'package-python-source.ts', 'package-go.ts', 'package-programs.ts'];

/**
 * Builds each package in two new clones of the commit, with the scripts of each clone.
 * @param folder a new folder, which gets the files
 * @throws Error if the folder exists, a command fails, or two builds of a package differ
 */
export function writeRelease(root: string, folder: string): void {
  mkdirSync(folder);
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-release-'));
  try {
    const clones = ['one', 'two'].map((name) => newClone(root, join(temporary, name)));
    for (const [source, script] of Object.entries(releasedPackages)) {
      const [archive = ''] = buildTwice(clones, script, folder);
      const manifest = readJson(join(dirname(archive), 'package/package.json')) as Manifest;
      const described = { ...manifest, dependencies: dependenciesOf(join(root, source)) };
      const components = billOfMaterials(root, source, described, join(temporary, 'described'));
      writeFileSync(join(folder, basename(archive, '.tgz') + '.cdx.json'), components);
    }
    for (const script of otherScripts) buildTwice(clones, script, folder);
    writeFileSync(join(folder, 'CHANGES.md'), changesOf(root));
    writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Links the installed packages of the checkout: the build of the client library needs the compiler, and that of the wheel needs
 * the virtual environment below `node_modules`.
 * @returns the path of the clone
 */
function newClone(root: string, clone: string): string {
  git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}

/**
 * Copies what the script builds to the release.
 * @returns the paths in the first clone
 * @throws Error if the two builds differ
 */
function buildTwice(clones: readonly string[], script: string, folder: string): readonly string[] {
  const [archives = [], again = []] = clones.map((clone) => buildInClone(clone, script));
  for (const [index, archive] of archives.entries()) {
    const name = basename(archive);
    if (!readFileSync(archive).equals(readFileSync(again[index] ?? '')))
      throw new Error(`Two builds of ${name} differ, so a release would not be reproducible.`);
    copyFileSync(archive, join(folder, name));
  }
  return archives;
}

/** @returns the paths of what the script builds; an npm package has its unpacked files beside it */
function buildInClone(clone: string, script: string): readonly string[] {
  const built = `${clone}-${basename(script, '.ts')}`;
  // The wheel contains the times of its files.
  const env = { ...process.env, SOURCE_DATE_EPOCH: git(clone, 'log', '-1', '--format=%ct').trim() };
  return run(process.execPath, ['--no-warnings', join(clone, 'scripts', script), built], clone, env)
    .trim()
    .split('\n');
}

/** @returns those of a package of the workspace, without other packages of the workspace */
function dependenciesOf(folder: string): Readonly<Record<string, string>> {
  const { dependencies = {} } = readJson(join(folder, 'package.json')) as Manifest;
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !name.startsWith('@keyreeve/')));
}

/**
 * Of the dependencies that are in the package or installed with it. The file has no time and no serial number, so builds are equal.
 * @param source the folder of the package in the workspace
 * @param parent gets a folder with the name of the package, which npm takes as the name of the described software
 */
function billOfMaterials(root: string, source: string, manifest: Manifest, parent: string): string {
  const folder = join(parent, String(manifest['name']));
  mkdirSync(folder, { recursive: true });
  const lock = packageLock(manifest, readJson(join(root, 'package-lock.json')) as LockFile, source);
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
export const checksumsOf = (folder: string): string =>
  readdirSync(folder)
    .toSorted()
    .map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`)
    .join('');

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function run(command: string, args: readonly string[], folder: string, env = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
