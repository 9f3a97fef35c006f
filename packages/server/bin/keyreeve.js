#!/usr/bin/env node
/**
 * Starts the program with the Node that it was made for (`bundled-node.js`). Plain JavaScript, so that an older Node can
 * run it as well.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findNode } from './bundled-node.js';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

const { node, problem } = findNode();
if (node === undefined) {
  console.error(`keyreeve: ${problem}`);
  // EX_UNAVAILABLE of sysexits.h.
  process.exit(69);
}

// Password hashes run on libuv's threads, beside files and name look-ups: as many as hash at once, and four.
const hashThreads = Math.min(4, availableParallelism());
// A small young generation: what a request leaves behind is small, and the memory serves better as page cache.
const args = [
  '--disable-proto=delete',
  // Without it a signal opens a debugger, through which every secret in the program can be read.
  '--disable-sigusr1',
  '--max-semi-space-size=4',
  '--no-warnings',
  main,
  ...process.argv.slice(2),
];
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
