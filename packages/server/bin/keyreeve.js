#!/usr/bin/env node
/**
 * Starts the program with the pinned Node (`bundled-node.js`). Plain JavaScript, because an older Node may run this file.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { builds, isBuilt, isFinal } from './build-stamp.js';
import { findNode } from './bundled-node.js';

const source = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const main = isBuiltProgramCurrent() ? fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)) : source;

const { node, problem } = findNode();
if (node === undefined) {
  console.error(`keyreeve: ${problem}`);
  // EX_UNAVAILABLE of sysexits.h.
  process.exit(69);
}

const args = [
  '--disable-proto=delete',
  // By default, SIGUSR1 opens a debugger, which can read every secret of the process.
  '--disable-sigusr1',
  // MiB. Requests allocate little, and the database needs the memory for its page cache.
  '--max-semi-space-size=2',
  // The heap is small, so a collection is short: more of them need less memory.
  '--heap-growing-percent=50',
  '--no-warnings',
  main,
  ...process.argv.slice(2),
];
const env = {
  // With glibc, threads keep less unused memory: 5 MiB at rest. They allocate little at the same time.
  MALLOC_ARENA_MAX: '1',
  // Caches compiled code, which is most of the time of a start, if this user can write to the folder.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/keyreeve', import.meta.url)),
  ...process.env,
};

if (process.execve && process.platform !== 'win32') {
  // Replaces this process by the program, so that signals reach the program directly.
  process.execve(node, [node, ...args], env);
}
const child = spawn(node, args, { stdio: 'inherit', env });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  // On a terminal, Ctrl-C reaches both processes. Forwarding it would send a second signal.
  process.on(signal, () => (signal === 'SIGTERM' || !process.stdin.isTTY) && child.kill(signal));
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  // End this process by the same signal, so that its parent sees the same exit.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

/** In a checkout, the build can be older than the sources, which Node also runs. */
function isBuiltProgramCurrent() {
  if (isFinal(builds.program)) return true;
  const isTest = process.env.NODE_OPTIONS?.includes('--conditions=keyreeve-sources');
  return !isTest && isBuilt(builds.program);
}
