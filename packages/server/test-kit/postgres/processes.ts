/** Finds and signals the processes of a PostgreSQL server. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** One letter: T is stopped, Z is a zombie. */
  readonly state: string;
  /** The arguments, or the title that the process has set. */
  readonly command: string;
}

/** All processes of this machine, without zombies. */
export function runningProcesses(): RunningProcess[] {
  const all = existsSync('/proc/self/stat') ? fromProc() : fromPs();
  return all.filter(({ state }) => state !== 'Z');
}

/** A postmaster and its children, by parent, because each child has its own process group. */
export const familyOf = (postmasterPid: number): RunningProcess[] =>
  runningProcesses().filter(({ pid, parentPid }) => pid === postmasterPid || parentPid === postmasterPid);

/** The programs whose arguments name a file or a folder in `folder`. */
export const startedIn = (folder: string): RunningProcess[] =>
  runningProcesses().filter(({ command }) => command.includes(`${folder}/`));

/** Whether it is `initdb` or a postmaster. */
export const isPostgres = ({ command }: RunningProcess): boolean => /^\S*\/(?:initdb|postgres) /.test(command);

export function signalAll(processes: readonly { readonly pid: number }[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // The process has ended in the meantime.
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
        // The name of the program is in parentheses, and may contain parentheses.
        const [state = '', parentPid = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(pid), parentPid: Number(parentPid), state, command }];
      } catch {
        return []; // The process has ended in the meantime.
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
