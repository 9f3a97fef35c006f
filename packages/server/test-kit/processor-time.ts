/** The processor time of processes, from `/proc`. Other systems than Linux only have that of this process. */
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessTimes {
  readonly parentPid: number;
  /** Of the process, and of its children that have ended and were awaited. */
  readonly seconds: number;
}

const ticksPerSecond = 100;

/** Of this process, and of its children that have ended and were awaited. */
export function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return timesOf('self')?.seconds ?? (user + system) / 1e6;
}

/** Of this process and of all its descendants. */
export function treeSeconds(): number {
  const all = new Map(
    runningPids().flatMap((pid): [number, ProcessTimes][] => {
      const times = timesOf(pid);
      return times ? [[pid, times]] : [];
    }),
  );
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = all.get(at)?.parentPid)
      if (at === process.pid) return true;
    return false;
  };
  const seconds = [...all].map(([pid, times]) => (isBelow(pid) ? times.seconds : 0));
  return all.size === 0 ? ownSeconds() : seconds.reduce((sum, one) => sum + one, 0);
}

function runningPids(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** @returns undefined for a process that has ended, and on other systems */
function timesOf(pid: number | 'self'): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses, and may contain parentheses. The state follows, which is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parentPid: Number(fields[1]), seconds: ticks / ticksPerSecond };
  } catch {
    return undefined;
  }
}
