/**
 * One worker compared with one per core, on the same database. The load generator and PostgreSQL share the cores, so on two
 * cores the second worker competes with them. The processor time per request shows the cost of sharing.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { limits } from '@keyreeve/contract';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { createRequest, forwardRequest, keyreeve } from './keyreeve.ts';
import { contender } from './measure.ts';
import { Programs, type Running } from './processes.ts';
import { treeResidentMib } from '../packages/server/test-kit/processor-time.ts';
import { barText, titleOf, verdict } from './report.ts';
import type { RequestTemplate } from './request.ts';
import { alternate, ms, rate, table, type Figure } from './rounds.ts';
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
const title = counts.join('/');
const cores = Array.from({ length: availableParallelism() }, (_, core) => core).join(',');
const nameOf = (count: number): string => `${count} worker${count === 1 ? '' : 's'}`;
const [one, many] = [nameOf(counts[0]), nameOf(counts[1])];

/** Below the limit of servers with several workers. */
const requestsPerConnectionMax = limits.requestsPerSharedConnectionMax - 100;
const creationsBar = { atLeast: 1 };

/** The programs with one and with several workers. */
type Both = Readonly<Record<string, Running>>;
type Row = readonly string[];

interface Rows {
  readonly measured: Row[];
  readonly costs: Row[];
  readonly goals: Row[];
}

export async function workers(options: WorkersOptions): Promise<string> {
  const rows: Rows = { measured: [], costs: [], goals: [] };
  for (const database of options.databases) {
    await using postgres = database === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined;
    const path = join(options.folder, database);
    const url = postgres ? `${(await postgres.createDatabase()).url}?sslmode=disable` : `sqlite:${path}.db`;
    console.error(`seeding ${options.keys} keys in ${database}`);
    const seeded = await seed(url, `${path}.keys`, options.keys);
    await using programs = new Programs();
    const both: Record<string, Running> = {};
    for (const count of counts) {
      const environment = { KEYREEVE_WORKERS: String(count), KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };
      both[nameOf(count)] = programs.add(await keyreeve(cores, seeded, undefined, environment));
    }
    await compare(titleOf(database), both, seeded, { ...options, rows });
  }
  return [
    table([`what (${title} workers, ratio)`, 'requests/s', 'p99 ms', 'processor µs/request'], rows.measured),
    table([`${title} workers`, 'start to first response', 'resident, all processes'], rows.costs),
    table(['what', 'measured', 'bar', ''], rows.goals),
  ].join('\n\n');
}

type Run = WorkersOptions & { readonly rows: Rows };

async function compare(database: string, both: Both, { keys }: Seeded, run: Run): Promise<void> {
  for (const connections of [64, 4]) {
    const what = `${database}, forward, ${connections} connections`;
    await measureBoth(what, both, { request: forwardRequest(keys), connections }, run);
  }
  const { accessTokens } = await signIn(both[one]?.port ?? 0, run.folder);
  const what = `${database}, creations, 16 connections`;
  const ratio = await measureBoth(what, both, { request: createRequest(accessTokens), connections: 16 }, run);
  run.rows.goals.push([
    `${what}: rate with ${many} / ${one}`,
    ratio.toFixed(2),
    barText(creationsBar),
    verdict(ratio, creationsBar),
  ]);
  const each = (text: (running: Running) => string): string => Object.values(both).map(text).join('/');
  run.rows.costs.push([
    database,
    `${each(({ startMs }) => startMs.toFixed(0))} ms`,
    `${each(({ process: { pid = 0 } }) => treeResidentMib(pid).toFixed(0))} MiB`,
  ]);
}

/** @returns the ratio of the rates */
async function measureBoth(
  what: string,
  both: Both,
  requests: { readonly request: RequestTemplate; readonly connections: number },
  { rounds, seconds, rows }: Run,
): Promise<number> {
  const load = { ...requests, seconds, requestsPerConnectionMax };
  const contenders = Object.entries(both).map(([name, running]) => contender(name, running, load, cores));
  await alternate(contenders, 1);
  const found = await alternate(contenders, rounds);
  const cell = (figure: Figure, text: (value: number) => string): string =>
    `${text(found.median(one, figure))}/${text(found.median(many, figure))} (${found.ratio(many, one, figure).toFixed(2)})`;
  const row = [what, cell('perSecond', rate), cell('msP99', ms), cell('processorUs', rate)];
  console.error(row.join(' | '));
  rows.measured.push(row);
  return found.ratio(many, one, 'perSecond');
}
