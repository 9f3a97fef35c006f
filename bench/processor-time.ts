/** The processor time of a program and of the processes that it has started, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc: hundredths of a second on every Linux there is. */
const msPerTick = 10;

/** The program first. */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
      .split(' ')
      .filter((text) => text.trim() !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

/** User and system time since its start. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}
