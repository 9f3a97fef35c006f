/** Starts the measured programs on chosen processors, and measures them under load. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { startLoad, type LoadOptions, type LoadResult } from './load.ts';
import { pinned, twoCores } from './machine.ts';

export interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  /** Undefined for programs without an admin listener. */
  readonly adminUrl: string | undefined;
  /** The listener for verifications: that of the verifiers, or the only one. */
  readonly verifyPort: number;
  /** Time from the start to the first response. */
  readonly startMs: number;
  readonly ended: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface StartOptions {
  /** For example `0`, or `0,1`. Default: both. */
  readonly cores?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Answers when the program has started. Default: the URL in the line of JSON that the program prints, and `/health/live`. */
  readonly healthUrl?: string;
}

/** A script of this folder, run by this Node. */
export const script = (name: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, name),
  ...args,
];

/** The exit of this process ends these programs, so that a failed measurement leaves none behind. */
const programs = new Set<ChildProcess>();
process.on('exit', () => programs.forEach((program) => program.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

interface Listening {
  readonly url: string;
  readonly adminUrl?: string;
  readonly verifyUrl?: string;
}

export async function start(
  program: readonly string[],
  { cores = twoCores, env = {}, healthUrl }: StartOptions = {},
): Promise<Running> {
  const startedAt = performance.now();
  const [command = '', ...rest] = pinned(cores, program);
  const child = spawn(command, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  programs.add(child);
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => {
      programs.delete(child);
      resolve();
    });
  });
  const {
    url,
    adminUrl,
    verifyUrl = url,
  } = await (healthUrl === undefined ? printedUrls(child) : answering(child, healthUrl));
  await fetch(healthUrl ?? `${url}/health/live`).then((response) => response.arrayBuffer());
  const startMs = performance.now() - startedAt;
  const stop = (): Promise<void> => {
    child.kill('SIGTERM');
    return ended;
  };
  const portOf = (text: string): number => Number(new URL(text).port);
  return { process: child, port: portOf(url), adminUrl, verifyPort: portOf(verifyUrl), startMs, ended, stop };
}

function printedUrls(child: ChildProcess): Promise<Listening> {
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${child.spawnargs.join(' ')} ended`)));
    lines.on('line', (line) => {
      if (!line.startsWith('{')) return;
      const record = JSON.parse(line) as Listening & { event?: string };
      if (record.event === 'listening') resolve(record);
    });
  });
}

async function answering(child: ChildProcess, url: string): Promise<Listening> {
  child.stdout?.resume();
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended`);
    const isAnswering = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isAnswering) return { url };
    await sleep(5);
  }
}

/** Stops the started programs together, before the resources that they use. */
export class Programs implements AsyncDisposable {
  readonly #running: Running[] = [];

  add<R extends Running>(running: R): R {
    this.#running.push(running);
    return running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop()));
  }
}

/** Runs a program to its end. @returns its output @throws Error if it fails */
export function execute(
  program: readonly string[],
  { cores = twoCores, env = {} }: StartOptions = {},
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

/** @returns the output of a program, parsed as JSON */
export const run = async <T>(program: readonly string[], options?: StartOptions): Promise<T> =>
  JSON.parse(await execute(program, options)) as T;

/** Processor time of a program and its child processes: of the threads that still run, to the nanosecond. */
const processorMs = ({ process: { pid = 0 } }: Running): number =>
  processTree(pid).reduce((sum, each) => sum + threadsProcessorMs(each), 0);

export type Load = Omit<LoadOptions, 'port'>;

export interface MeasuredLoad extends LoadResult {
  /** Processor time of the measured program per request. Other load on the machine affects it least. */
  readonly processorUs: number;
}

/** @param port default: that of the program */
export async function measure(running: Running, load: Load, port = running.port): Promise<MeasuredLoad> {
  const beforeMs = processorMs(running);
  const result = await startLoad({ ...load, port }).result;
  return { ...result, processorUs: ((processorMs(running) - beforeMs) * 1_000) / result.requests };
}
