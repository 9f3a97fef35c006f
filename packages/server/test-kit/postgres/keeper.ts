/**
 * `node keeper.ts FOLDER`: a process that ends the PostgreSQL servers of a test process and what manages them, and removes
 * their folder, after the test process has closed the pipe between them or has ended for any reason.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { familyOf, isPostgres, runningProcesses, signalAll, startedIn, type RunningProcess } from './processes.ts';
import { programMsMax } from '../time-limits.ts';
import { until } from '../until.ts';

async function endServers(): Promise<void> {
  // What manages the servers would start them again, and needs no orderly end.
  await until('what manages the servers has ended', () => {
    const managing = startedIn(folder).filter((one) => !isPostgres(one));
    signalAll(managing, 'SIGKILL');
    return managing.length === 0;
  });
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
  for (const lockFile of globSync(`${folder}/**/data/postmaster.pid`)) {
    const id = /^\s*\d+\s+(\d+)\s*$/.exec(readFileSync(lockFile, 'utf8').split('\n')[6] ?? '')?.[1];
    if (id !== undefined) spawnSync('ipcrm', ['-m', id], { timeout: programMsMax });
  }
}

/** The small disks of servers. */
function unmount(): void {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const own = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of own) spawnSync('umount', ['--lazy', path], { timeout: programMsMax });
}

const [folder = ''] = process.argv.slice(2);
process.stdin.resume();
await once(process.stdin, 'close');
try {
  await endServers();
  removeSharedMemory();
  if (process.platform === 'linux') unmount();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
