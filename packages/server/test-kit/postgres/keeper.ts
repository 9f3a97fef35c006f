/**
 * A process beside a test's PostgreSQL server that ends it and removes its folder when the test's process closes their
 * pipe or dies, however it dies: `node postgres-keeper.ts FOLDER`.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { familyOf, runningProcesses, signalAll, startedIn, waitUntil, type RunningProcess } from './processes.ts';

const quitMsMax = 5_000;
const killMsMax = 5_000;

async function endServers(): Promise<void> {
  const started = startedIn(folder);
  const family = started.flatMap(({ pid }) => familyOf(pid));
  // An immediate shutdown takes the shared memory with it. What is stopped can't hear it.
  signalAll(started, 'SIGQUIT');
  signalAll(family, 'SIGCONT');
  const haveEnded = (): boolean => !runningProcesses().some((one) => isOneOf(one, family));
  await waitUntil('the server quits', quitMsMax, haveEnded).catch(() => signalAll(family, 'SIGKILL'));
  await waitUntil('the server is killed', killMsMax, haveEnded);
}

function isOneOf({ pid }: RunningProcess, family: readonly RunningProcess[]): boolean {
  return family.some((member) => member.pid === pid);
}

/** A server that was killed leaves its lock file and the segment of shared memory that it names. */
function removeSharedMemory(): void {
  try {
    const id = /^\s*\d+\s+(\d+)\s*$/.exec(
      readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[6] ?? '',
    )?.[1];
    if (id !== undefined) spawnSync('ipcrm', ['-m', id], { timeout: killMsMax });
  } catch {
    // No lock file: it ended in an orderly way, or never started.
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
