/** The processes of a PostgreSQL server: found, signalled and awaited. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** One letter: T is stopped, Z has ended and waits for its parent. */
  readonly state: string;
  /** Its arguments, or the title that it gave itself. */
  readonly command: string;
}

const pollMs = 10;

/** @throws Error that names `what` when `isSo` isn't true within `msMax` */
export async function waitUntil(what: string, msMax: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const bound = AbortSignal.timeout(msMax);
  while (!(await isSo())) {
    if (bound.aborted) throw new Error(`PostgreSQL: ${what}: not within ${msMax} ms`);
    await setTimeout(pollMs);
  }
}

/** Every process of this machine that hasn't ended. */
export function runningProcesses(): RunningProcess[] {
  const all = existsSync('/proc/self/stat') ? fromProc() : fromPs();
  return all.filter(({ state }) => state !== 'Z');
}

/** A postmaster and its children. Each child has a session of its own, so the process group doesn't tell. */
export const familyOf = (postmasterPid: number): RunningProcess[] =>
  runningProcesses().filter(({ pid, parentPid }) => pid === postmasterPid || parentPid === postmasterPid);

/** What an installation or a server was started for in `folder`: `initdb` and the postmaster. */
export const startedIn = (folder: string): RunningProcess[] =>
  runningProcesses().filter(
    ({ command }) => /^\S*\/(?:initdb|postgres) /.test(command) && command.includes(`${folder}/`),
  );

export function signalAll(processes: readonly { readonly pid: number }[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It ended in between.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function fromProc(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        // The program's name stands in parentheses and may itself hold some.
        const [state = '', parentPid = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(pid), parentPid: Number(parentPid), state, command }];
      } catch {
        return []; // It ended in between.
      }
    });
}

function fromPs(): RunningProcess[] {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,ppid=,state=,command='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parentPid, state, command] = /^\s*(\d+)\s+(\d+)\s+(\w)\S*\s+(.*)$/.exec(line) ?? [];
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parentPid: Number(parentPid), state: state ?? '', command: `${command} ` }];
  });
}
