/**
 * `node keeper.ts FOLDER`: a process that ends the PostgreSQL server of a test process and removes its folder, after the test
 * process has closed the pipe between them or has ended for any reason.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { familyOf, runningProcesses, signalAll, startedIn, type RunningProcess } from './processes.ts';
import { programMsMax } from '../time-limits.ts';
import { until } from '../until.ts';

async function endServers(): Promise<void> {
  const started = startedIn(folder);
  const family = started.flatMap(({ pid }) => familyOf(pid));
  // An immediate shutdown removes the shared memory. Paused processes must continue to receive the signal.
  signalAll(started, 'SIGQUIT');
  signalAll(family, 'SIGCONT');
  const haveEnded = (): boolean => !runningProcesses().some((one) => isOneOf(one, family));
  // oxlint-disable-next-line keyreeve/no-test-bounds -- PostgreSQL has the time of programs to end by itself
  const killing = setTimeout(() => signalAll(family, 'SIGKILL'), programMsMax);
  await until('the server has ended', haveEnded);
  clearTimeout(killing);
}

function isOneOf({ pid }: RunningProcess, family: readonly RunningProcess[]): boolean {
  return family.some((member) => member.pid === pid);
}

/** A killed server leaves its lock file, and the segment of shared memory that the file names. */
function removeSharedMemory(): void {
  try {
    const id = /^\s*\d+\s+(\d+)\s*$/.exec(
      readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[6] ?? '',
    )?.[1];
    if (id !== undefined) spawnSync('ipcrm', ['-m', id], { timeout: programMsMax });
  } catch {
    // No lock file: the server has shut down, or never started.
  }
}

const [folder = ''] = process.argv.slice(2);
process.stdin.resume();
await once(process.stdin, 'close');
try {
  await endServers();
  removeSharedMemory();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
