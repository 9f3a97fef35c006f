/** The processors that programs are pinned to, and what else uses them during a round. Linux only. */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { treeProcessorMs } from '../packages/server/test-kit/processor-time.ts';

/** Of a server whose processor time is compared with that of another one. */
export const oneCore = '0';
/** Of a server beside which other loads run. */
export const twoCores = '0,1';
/** Of the load generators: one that no server uses, on a machine with more than two. */
export const generatorCore = String(availableParallelism() - 1);

export const pinned = (cores: string, command: readonly string[]): readonly string[] => [
  'taskset',
  '--cpu-list',
  cores,
  ...command,
];

/** Shares of the time of all processors. */
export interface Noise {
  /** Taken by the host from this machine. */
  readonly steal: number;
  /** Used by programs that the benchmark did not start. */
  readonly foreign: number;
}

export interface ProcessorTimes {
  /** In hundredths of a second. */
  readonly total: number;
  readonly busy: number;
  readonly steal: number;
}

/** @param text of /proc/stat (proc_stat(5)) @throws Error without its first line */
export function parseProcessorTimes(text: string): ProcessorTimes {
  const [, line] = /^cpu +([\d ]+)$/m.exec(text) ?? [];
  if (line === undefined) throw new Error('/proc/stat has no line of all processors');
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(' ')
    .map(Number);
  const total = user + nice + system + idle + wait + irq + softirq + steal;
  // Interrupts are left out: most of them carry the packets of the load itself.
  return { total, busy: user + nice + system, steal };
}

/** @param own processor time of the benchmark and its programs, in hundredths of a second */
export function noiseOf(before: ProcessorTimes, after: ProcessorTimes, own: number): Noise {
  const total = Math.max(1, after.total - before.total);
  const foreign = Math.max(0, after.busy - before.busy - own);
  return { steal: (after.steal - before.steal) / total, foreign: foreign / total };
}

/** Processor time of the threads of the kernel, which write what the load has changed; 0 in a container, which does not see them. */
const kernelMs = (): number =>
  existsSync('/proc/2/comm') && readFileSync('/proc/2/comm', 'latin1').trim() === 'kthreadd' ? treeProcessorMs(2) : 0;

/** Starts to watch. @returns a function that returns the noise since then */
export function watchMachine(): () => Noise {
  const read = () => ({
    times: parseProcessorTimes(readFileSync('/proc/stat', 'latin1')),
    own: (treeProcessorMs(process.pid) + kernelMs()) / 10,
  });
  const before = read();
  return () => {
    const after = read();
    return noiseOf(before.times, after.times, after.own - before.own);
  };
}

export const machineText = (): string =>
  `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} processors, Node ${process.versions.node}`;
