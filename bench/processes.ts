/** Starts the measured programs: the server on one core, the load generator on the other. */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isAbsolute, join } from 'node:path';
import type { LoadOptions, LoadResult } from './load.ts';

const canPin = spawnSync('taskset', ['--version']).status === 0;
/** @param script absolute, or relative to this folder */
const path = (script: string): string => (isAbsolute(script) ? script : join(import.meta.dirname, script));

const pinned = (cores: string, command: readonly string[]): readonly string[] =>
  canPin ? ['taskset', '-c', cores, ...command] : command;

/** The exit of this process ends these servers, so that a failed measurement leaves none behind. */
const servers = new Set<ChildProcess>();
process.on('exit', () => servers.forEach((server) => server.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

export interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  /** Undefined for programs without an admin listener. */
  readonly adminUrl: string | undefined;
  /** Time from the start to the first response. */
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
  servers.add(child);
  child.on('exit', () => servers.delete(child));
  const lines = createInterface({ input: child.stdout });
  const { url, adminUrl } = await new Promise<{ url: string; adminUrl?: string }>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${script} ended`)));
    lines.on('line', (line) => {
      if (!line.startsWith('{')) return;
      const record = JSON.parse(line) as { event?: string; url: string; adminUrl?: string };
      if (record.event === 'listening') resolve(record);
    });
  });
  await fetch(`${url}/health/live`).then((response) => response.arrayBuffer());
  const startMs = performance.now() - startedAt;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.on('exit', () => resolve());
      child.kill('SIGTERM');
    });
  return { process: child, port: Number(new URL(url).port), adminUrl, startMs, stop };
}

/** Stops the started programs together, before the resources that they use. */
export class Programs implements AsyncDisposable {
  readonly #running: Running[] = [];

  add(running: Running): Running {
    this.#running.push(running);
    return running;
  }

  async start(...args: Parameters<typeof start>): Promise<Running> {
    return this.add(await start(...args));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop()));
  }
}

/** Runs a script to its end. @returns its output @throws Error if it fails */
export const execute = (
  cores: string,
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> => executeProgram(cores, [process.execPath, path(script), ...args], env);

/** Like {@link execute}, for a program in another language. */
export function executeProgram(
  cores: string,
  program: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const [command = '', ...rest] = pinned(cores, program);
  const options = { encoding: 'utf8', maxBuffer: 2 ** 24, env: { ...process.env, ...env } } as const;
  return new Promise((resolve, reject) => {
    execFile(command, rest, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program.slice(0, 2).join(' ')}: ${stderr || error.message}`));
      else resolve(stdout);
    });
  });
}

/** Runs a program of this folder. @returns its output, parsed as JSON */
export const run = async <T>(cores: string, script: string, input: unknown, env: NodeJS.ProcessEnv = {}): Promise<T> =>
  JSON.parse(await execute(cores, script, [JSON.stringify(input)], env)) as T;

export const load = (options: LoadOptions, cores = '1'): Promise<LoadResult> => run(cores, './load.ts', options);
