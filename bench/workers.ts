/**
 * One worker compared with one per core, on the same database. The load generator shares the cores, so rates are lower than
 * on a separate machine. The processor time per request shows the cost of sharing.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { limits } from '@keyreeve/contract';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { createRequest, forwardRequest, keyreeve } from './keyreeve.ts';
import type { LoadResult } from './load.ts';
import { load, type Running } from './processes.ts';
import { processorMs, processTree, treeResidentMib } from './processor-time.ts';
import type { RequestTemplate } from './request.ts';
import { alternate, median, ms, rate, table } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { signIn } from './tokens.ts';

export interface WorkersOptions {
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly databases: readonly string[];
  readonly folder: string;
}

const counts = [1, Math.max(2, availableParallelism())] as const;
const cores = Array.from({ length: availableParallelism() }, (_, core) => core).join(',');
const nameOf = (count: number): string => `${count} worker${count === 1 ? '' : 's'}`;
const [one, many] = [nameOf(counts[0]), nameOf(counts[1])];

/** Below the limit of servers with several workers. */
const requestsPerConnectionMax = limits.requestsPerSharedConnectionMax - 100;

type Programs = ReadonlyMap<string, Running>;
type Row = readonly string[];

export async function workers(options: WorkersOptions): Promise<string> {
  const rows: Row[] = [];
  for (const database of options.databases) {
    await using postgres = database === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined;
    const path = join(options.folder, database);
    const url = postgres ? `${(await postgres.createDatabase()).url}?sslmode=disable` : `sqlite:${path}.db`;
    console.error(`seeding ${options.keys} keys in ${database}`);
    const seeded = await seed(url, `${path}.keys`, options.keys);
    const programs = new Map<string, Running>();
    for (const count of counts) {
      const environment = { KEYREEVE_WORKERS: String(count), KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };
      programs.set(nameOf(count), await keyreeve(cores, seeded, undefined, environment));
    }
    for (const row of await compare(programs, seeded, options)) {
      rows.push([database, ...row]);
      console.error(row.join(': '));
    }
    for (const program of programs.values()) await program.stop();
  }
  return table(['database', 'what', one, many, 'ratio'], rows);
}

async function compare(programs: Programs, { keys }: Seeded, options: WorkersOptions): Promise<Row[]> {
  const { folder } = options;
  const rows: Row[] = [startRow(programs)];
  for (const connections of [64, 4]) {
    rows.push(
      ...(await measure(programs, `forward, ${connections} connections`, forwardRequest(keys), connections, options)),
    );
  }
  const tokens = await signIn(programs.get(one)?.port ?? 0, folder);
  rows.push(...(await measure(programs, 'creations, 16 connections', createRequest(tokens.accessTokens), 16, options)));
  const memory = (name: string): string => `${Math.round(treeResidentMib(pidOf(programs, name)))} MiB`;
  return [...rows, ['resident, all processes', memory(one), memory(many), '']];
}

const pidOf = (programs: Programs, name: string): number => programs.get(name)?.process.pid ?? 0;

const startRow = (programs: Programs): Row => {
  const startMs = (name: string): string => `${Math.round(programs.get(name)?.startMs ?? Number.NaN)} ms`;
  return ['start to first response', startMs(one), startMs(many), ''];
};

/** Measures rate, p99, processor time per request, and each worker's share of it. */
async function measure(
  programs: Programs,
  what: string,
  request: RequestTemplate,
  connections: number,
  { rounds, seconds }: WorkersOptions,
): Promise<Row[]> {
  const times = new Map<string, { perRequestUs: number[]; shares: string[] }>();
  const contenders = [...programs].map(([name, { port }]) => ({
    name,
    run: async (): Promise<LoadResult> => {
      const pids = processTree(pidOf(programs, name));
      const before = pids.map(processorMs);
      const result = await load({ port, connections, seconds, request, requestsPerConnectionMax }, cores);
      const used = pids.map((pid, index) => processorMs(pid) - (before[index] ?? 0));
      const total = used.reduce((sum, msUsed) => sum + msUsed, 0);
      const figures = times.get(name) ?? { perRequestUs: [], shares: [] };
      figures.perRequestUs.push((total * 1000) / result.requests);
      // The first process is the supervisor, which uses almost no processor time.
      figures.shares.push(
        used
          .slice(1)
          .map((msUsed) => Math.round((msUsed / total) * 100))
          .join('/'),
      );
      times.set(name, figures);
      return result;
    },
  }));
  await alternate(contenders, 1);
  times.clear();
  const found = await alternate(contenders, rounds);
  const both = (text: (name: string) => string): Row => [text(one), text(many)];
  const us = (name: string): number => median(times.get(name)?.perRequestUs ?? []);
  return [
    [
      `${what}: requests/s`,
      ...both((name) => rate(found.median(name, 'perSecond'))),
      found.ratio(many, one, 'perSecond').toFixed(2),
    ],
    [
      `${what}: p99`,
      ...both((name) => `${ms(found.median(name, 'msP99'))} ms`),
      found.ratio(many, one, 'msP99').toFixed(2),
    ],
    [
      `${what}: processor time per request`,
      ...both((name) => `${Math.round(us(name))} µs`),
      (us(many) / us(one)).toFixed(2),
    ],
    [`${what}: shares of the workers in %, each round`, '', (times.get(many)?.shares ?? []).join(', '), ''],
  ];
}
