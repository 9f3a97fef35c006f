/** Compiles and runs the load generator (`load.cpp`). */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generatorCore, pinned } from './machine.ts';
import type { RequestTemplate } from './request.ts';

export interface LoadOptions {
  /** On the loopback interface. */
  readonly port?: number;
  /** The path of a Unix socket instead. */
  readonly unix?: string;
  readonly connections: number;
  readonly seconds: number;
  readonly request: RequestTemplate;
  /** Requests per second over all connections; undefined sends each request when the response to the last one arrives. */
  readonly rate?: number;
  /** Ends a load without a rate earlier. */
  readonly requests?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly failures: number;
  /** Requests without a response 8 s after the end. The percentiles contain the time that they have waited. */
  readonly unanswered: number;
  readonly msP50: number;
  readonly msP99: number;
  /** Processor time of the generator divided by the duration. */
  readonly generatorShare: number;
  /** Responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface RunningLoad {
  readonly result: Promise<LoadResult>;
  /** Ends the load before its time. */
  readonly stop: () => Promise<LoadResult>;
}

const source = join(import.meta.dirname, 'load.cpp');
const modules = join(import.meta.dirname, '../node_modules');
let compiled: string | undefined;

/** @returns the path of the program, which is compiled again when its source is newer @throws Error without a compiler */
export function generator(): string {
  compiled ??= compile();
  return compiled;
}

function compile(): string {
  const folder = existsSync(modules) ? join(modules, '.cache/bench') : join(tmpdir(), 'keyreeve-bench-cache');
  mkdirSync(folder, { recursive: true });
  const target = join(folder, 'load');
  const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt(target) > changedAt(source)) return target;
  const draft = `${target}-${process.pid}`;
  const { error, status, stderr } = spawnSync('g++', ['-O2', '-std=c++20', '-o', draft, source], { encoding: 'utf8' });
  if (error)
    throw new Error(
      'the load generator needs a C++ compiler: install g++ (Debian, Ubuntu: `apt-get install g++`; Fedora: `dnf install gcc-c++`)',
    );
  if (status !== 0) throw new Error(`g++ could not compile ${source}, which needs Linux and C++20:\n${stderr}`);
  renameSync(draft, target);
  return target;
}

function argumentsOf({ request, ...options }: LoadOptions): string[] {
  const { pool, status, contains } = request;
  const named = {
    ...options,
    ...(pool ? { pool: pool.path, 'record-bytes': pool.recordBytes, 'first-record': pool.first } : {}),
    status,
    contains,
  };
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
}

export function startLoad(options: LoadOptions): RunningLoad {
  const [command = '', ...args] = pinned(generatorCore, [generator(), ...argumentsOf(options)]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(options.request.text, 'latin1');
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const result = Promise.all([text(child.stdout), text(child.stderr), ended]).then(([output, problem, status]) => {
    if (status !== 0) throw new Error(problem);
    const found = JSON.parse(output) as LoadResult;
    if (found.failures > 0) throw new Error(`of ${found.requests} requests, ${problem}`);
    return found;
  });
  // A load that fails before `stop` is called has its error there.
  result.catch(() => undefined);
  const stop = (): Promise<LoadResult> => {
    child.kill('SIGTERM');
    return result;
  };
  return { result, stop };
}
