/** Processor time of a program and its child processes, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** /proc counts hundredths of a second (USER_HZ). */
const msPerTick = 10;

/** @returns the process ids, the program's first */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
      .split(' ')
      .filter((text) => text.trim() !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

/** @returns user and system time since the start of the process */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}
