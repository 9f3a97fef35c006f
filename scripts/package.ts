/**
 * `npm run package -- <new folder>`: builds the npm package `keyreeve` and packs it. Node refuses to strip types below
 * `node_modules`, so the package contains JavaScript: each source file without its types, which keeps every line and column,
 * so that stack traces name the lines of the sources. The console is built for the package. See
 * docs/decisions/14-telemetry-tests-releases.md.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { buildConsole } from '../packages/console/build.ts';
import { buildArchive, runPackageCommand } from './package-archive.ts';
import { packageManifest, type Manifest } from './package-manifest.ts';

/** Folders of the checkout, and where the package has them. */
const folders: Readonly<Record<string, string>> = {
  'packages/server/bin': 'bin',
  'packages/server/src': 'src',
  'packages/server/revocation-check': 'revocation-check',
  'packages/contract/src': 'contract',
  docs: 'docs',
  ops: 'ops',
};
const files: Readonly<Record<string, string>> = {
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  'packages/server/README.md': 'README.md',
};
/** Names of folders and files that the program does not need. */
const left = new Set(['test', 'images', 'tsconfig.json', 'rules.test.yml']);

/**
 * @param folder a new folder, which gets the unpacked package in `package/` and the archive
 * @returns the path of the archive
 * @throws Error if the folder exists, a source cannot be converted, or npm fails
 */
export const buildPackage = (root: string, folder: string): string => buildArchive(root, folder, addFiles);

function addFiles(root: string, target: string): void {
  for (const [from, to] of Object.entries(folders)) addFolder(join(root, from), join(target, to));
  buildConsole(join(target, 'console/dist'));
  for (const [from, to] of Object.entries(files)) cpSync(join(root, from), join(target, to));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(readPackageManifest(root), null, 2)}\n`);
}

export const readPackageManifest = (root: string): Manifest =>
  packageManifest(
    readJson(join(root, 'packages/server/package.json')) as Manifest,
    readJson(join(root, 'package.json')) as Manifest,
  );

function addFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (left.has(entry.name)) continue;
    if (entry.isDirectory()) addFolder(path, join(to, entry.name));
    else if (entry.name.endsWith('.ts')) writeFileSync(join(to, scriptName(entry.name)), convert(path));
    else cpSync(path, join(to, entry.name));
  }
}

const scriptName = (name: string): string => name.replace(/\.ts$/, '.js');

/** @throws Error if the file imports a package of the workspace that the npm package does not contain */
function convert(path: string): string {
  const script = stripTypeScriptTypes(readFileSync(path, 'utf8'))
    // Imports, and the files of threads.
    .replaceAll(/(?<=['"]\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g, '.js')
    // The entries of `imports` in package.json.
    .replaceAll(`'@keyreeve/contract'`, `'#contract'`)
    .replaceAll(`'@keyreeve/console/`, `'#console/`);
  const workspaceImport = /'@keyreeve\/[^']*'/.exec(script);
  if (workspaceImport) throw new Error(`${path} names ${workspaceImport[0]}, which the package does not contain`);
  return script;
}

export const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

if (import.meta.main) runPackageCommand('package', addFiles);
