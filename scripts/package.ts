/**
 * `npm run package -- <new folder>`: builds the npm package `keyreeve` and packs it. Node refuses to strip types below
 * `node_modules`, so the package contains JavaScript: each source file without its types, which keeps every line and column,
 * so that stack traces name the lines of the sources. Needs no installed dependencies. See docs/decisions/0033-npm-package.md.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageManifest, type Manifest } from './package-manifest.ts';

/** Folders of the checkout, and where the package has them. */
const folders: Readonly<Record<string, string>> = {
  'packages/server/bin': 'bin',
  'packages/server/src': 'src',
  'packages/server/revocation-check': 'revocation-check',
  'packages/contract/src': 'contract',
  'packages/console/dist': 'console/dist',
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
export function buildPackage(root: string, folder: string): string {
  // Not recursive: an existing folder, whose files could get into the package, is an error.
  mkdirSync(folder);
  const target = join(folder, 'package');
  for (const [from, to] of Object.entries(folders)) addFolder(join(root, from), join(target, to));
  for (const [from, to] of Object.entries(files)) cpSync(join(root, from), join(target, to));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(readPackageManifest(root), null, 2)}\n`);
  return pack(target, folder);
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

function pack(source: string, folder: string): string {
  const { status, stdout, stderr, error } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', source], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm pack: ${error?.message ?? stderr}`);
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  return join(folder, basename(packed?.filename ?? ''));
}

export const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: npm run package -- <new folder>\n');
    process.exitCode = 64;
  } else {
    process.stdout.write(`${buildPackage(fileURLToPath(new URL('..', import.meta.url)), folder)}\n`);
  }
}
