/** Processor time and memory of a program and its child processes, from Linux's /proc. Other systems report zero. */
import { readdirSync, readFileSync } from 'node:fs';

/** /proc counts hundredths of a second (USER_HZ). */
const msPerTick = 10;

/** @returns the process ids, the program's first */
export function processTree(pid: number): number[] {
  const children = threadsOf(pid).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`)
      .split(' ')
      .filter((text) => text.trim() !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

/** @returns user and system time since the start of the process, with those of its ended children */
export function processorMs(pid: number): number {
  // utime, stime, cutime and cstime of proc_pid_stat(5). The name, the second field, may contain spaces.
  const times = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ').slice(11, 15) ?? [];
  return times.reduce((sum, ticks) => sum + Number(ticks) * msPerTick, 0);
}

/** @returns the processor time of the program and all its child processes */
export const treeProcessorMs = (pid: number): number =>
  processTree(pid).reduce((sum, each) => sum + processorMs(each), 0);

/** @returns the processor time of the threads of a program that still run, to the nanosecond; without child processes */
export const threadsProcessorMs = (pid: number): number =>
  threadsOf(pid).reduce((sum, task) => {
    // The first field is the time on a processor, in nanoseconds (sched-stats.rst).
    const [ns = '0'] = read(`/proc/${pid}/task/${task}/schedstat`).split(' ');
    return sum + Number(ns) / 1e6;
  }, 0);

/** Resident memory in MiB: all of it, or the anonymous part, which excludes pages of files. */
export type Resident = 'VmRSS' | 'RssAnon';

export function residentMib(pid: number, which: Resident = 'VmRSS'): number {
  const kib = new RegExp(`${which}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1];
  return Number(kib) / 1024;
}

export const treeResidentMib = (pid: number, which: Resident = 'VmRSS'): number =>
  processTree(pid).reduce((sum, each) => sum + residentMib(each, which), 0);

/** @returns the ids; none if the process has ended */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** @returns the text; empty if the thread or process has ended */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
