/** Starting the measured programs: the server on one core, the load generator on the other. */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadResult } from './load.ts';

const canPin = spawnSync('taskset', ['--version']).status === 0;
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const pinned = (cores: string, command: readonly string[]): readonly string[] =>
  canPin ? ['taskset', '-c', cores, ...command] : command;

export interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  /** From its start to its first answer. */
  readonly startMs: number;
  readonly stop: () => Promise<void>;
}

/** @param cores for example `0`, or `0,1` */
export async function start(
  cores: string,
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const startedAt = performance.now();
  const [command = '', ...rest] = pinned(cores, [process.execPath, path(script), ...args]);
  const child = spawn(command, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`${script} ended`)));
    lines.on('line', (line) => {
      const record = JSON.parse(line) as { event?: string; url?: string };
      if (record.event === 'listening' && record.url) resolve(record.url);
    });
  });
  await fetch(`${url}/health/live`).then((response) => response.arrayBuffer());
  const startMs = performance.now() - startedAt;
  child.removeAllListeners('exit');
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      child.on('exit', () => resolve());
      child.kill('SIGTERM');
    });
  return { process: child, port: Number(new URL(url).port), startMs, stop };
}

export function load(options: LoadOptions, cores = '1'): Promise<LoadResult> {
  const [command = '', ...args] = pinned(cores, [process.execPath, path('./load.ts'), JSON.stringify(options)]);
  return new Promise((resolve, reject) => {
    execFile(command, args, { encoding: 'utf8', maxBuffer: 2 ** 24 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(JSON.parse(stdout) as LoadResult);
    });
  });
}

/** Resident memory now, in MiB. */
export function residentMib(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
