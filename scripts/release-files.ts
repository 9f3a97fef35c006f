/**
 * The files of a release: the packages for npm, Python and Go, the program for each platform, the image, the chart, the components of each
 * in CycloneDX, the section of the changelog, the parameters of the build, and the checksums of these files.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.ts';
import { sha256 } from './oci-layout.ts';
import { readPackageManifest } from './package.ts';
import { git } from './run-files.ts';

/** Each builds one file or several, and prints their paths, one a line. */
export const releaseScripts = [
  'package.ts',
  'package-client.ts',
  'package-elements.ts',
  'package-otel.ts',
  'package-python.ts',
  'package-python-source.ts',
  'package-go.ts',
  'package-programs.ts',
  'package-image.ts',
  'package-chart.ts',
];

/** With the same values, anyone builds the same bytes. */
const parameters = ['KEYREEVE_REPOSITORY_URL', 'KEYREEVE_SECURITY_CONTACT', 'KEYREEVE_GO_MODULE'];

/**
 * Builds each file in two new clones of the commit, with the scripts of each clone. The packages of npm and Python have the modes of
 * the files in the clone, so these do not depend on the umask of the publisher.
 * @param folder a new folder, which gets the files
 * @throws Error if the folder exists, a command fails, or two builds of a file differ
 */
export function writeRelease(root: string, folder: string): void {
  const umask = process.umask(0o022);
  mkdirSync(folder);
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-release-'));
  try {
    const clones = ['one', 'two'].map((name) => newClone(root, join(temporary, name)));
    for (const script of releaseScripts) buildTwice(clones, script, folder);
    for (const name of readdirSync(folder)) {
      const bill = billOfMaterials(root, join(folder, name));
      writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
    }
    // An empty value is malformed: a parameter that is not set is left out.
    const lines = parameters.flatMap((name) =>
      process.env[name] === undefined ? [] : [`${name}=${process.env[name]}\n`],
    );
    writeFileSync(join(folder, 'PARAMETERS'), lines.join(''));
    writeFileSync(join(folder, 'CHANGES.md'), changesOf(root));
    writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    process.umask(umask);
  }
}

/**
 * Links the installed packages of the checkout: builds need the compiler, esbuild, and the virtual environment below `node_modules`.
 * @returns the path of the clone
 */
function newClone(root: string, clone: string): string {
  git(root, 'clone', '--quiet', '--no-hardlinks', root, clone);
  const [installed, linked] = [root, clone].map((folder) => join(folder, 'node_modules')) as [string, string];
  mkdirSync(linked);
  for (const name of readdirSync(installed)) {
    // The links to packages of the workspace are relative: these are to packages of the clone.
    if (name === '@keyreeve' || name === 'keyreeve')
      cpSync(join(installed, name), join(linked, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(installed, name), join(linked, name));
  }
  return clone;
}

/** Copies what the script builds to the release. @throws Error if the two builds differ */
function buildTwice(clones: readonly string[], script: string, folder: string): void {
  const [archives = [], again = []] = clones.map((clone) => buildInClone(clone, script));
  for (const [index, archive] of archives.entries()) {
    const name = basename(archive);
    if (!readFileSync(archive).equals(readFileSync(again[index] ?? '')))
      throw new Error(`Two builds of ${name} differ, so a release would not be reproducible.`);
    copyFileSync(archive, join(folder, name));
  }
  for (const clone of clones) rmSync(builtOf(clone, script), { recursive: true });
}

const builtOf = (clone: string, script: string): string => `${clone}-${basename(script, '.ts')}`;

/** @returns the paths of what the script builds */
function buildInClone(clone: string, script: string): readonly string[] {
  // The wheel contains the times of its files.
  const env = { ...process.env, SOURCE_DATE_EPOCH: git(clone, 'log', '-1', '--format=%ct').trim() };
  return run(process.execPath, ['--no-warnings', join(clone, 'scripts', script), builtOf(clone, script)], clone, env)
    .trim()
    .split('\n');
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
