/** Keyreeve on PostgreSQL, compared with its limit, with one query per request, and while keys are created and deleted. */
import { join } from 'node:path';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { interference } from './interference.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { contender } from './measure.ts';
import { Programs, type Running } from './processes.ts';
import { Report, type Bar } from './report.ts';
import { alternate, generatorNote, ms } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { beside, throughput } from './throughput.ts';
import { variantOf } from './variant.ts';

export interface PostgresOptions {
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

const bars = { forward: { atMost: 2.2, goal: 1.7 }, nodeHttp: {}, verify: {}, batch: {} };
const manyConnections = [64, 256];

export async function postgres(options: PostgresOptions): Promise<string> {
  const { rounds, seconds } = options;
  const report = new Report();
  await using database = await PostgresServer.start({ durable: true });
  const { url } = await database.createDatabase();
  console.error(`seeding ${options.keys} keys`);
  const seeded = await seed(`${url}?sslmode=disable`, join(options.folder, 'keys'), options.keys);
  {
    await using programs = new Programs();
    using variant = variantOf('one-query-per-request');
    const limit = await programs.start('0', './limit-server.ts', ['0']);
    const server = programs.add(await keyreeve('0', seeded));
    const other = programs.add(await keyreeve('0', seeded, variant.program));
    for (const connections of manyConnections) {
      await throughput(report, { server, limit, seeded, connections, rounds, seconds, bars });
    }
    await sharedReads(report, { server, other }, seeded, options);
  }
  await interference(report, seeded, options);
  return [String(report), generatorNote].join('\n\n');
}

/** Compares shared reads with one query per request. */
async function sharedReads(
  report: Report,
  { server, other }: { readonly server: Running; readonly other: Running },
  { keys }: Seeded,
  { rounds, seconds }: PostgresOptions,
): Promise<void> {
  const both = (connections: number) => {
    const load = { connections, seconds, request: forwardRequest(keys) };
    return [contender('shared', server, load), contender('alone', other, load)];
  };
  const rateBar: Bar = { atLeast: 2 };
  for (const connections of manyConnections) {
    await alternate(both(connections), 1);
    const found = await alternate(both(connections), rounds);
    const what = `rate of \`GET /auth/forward\` / one query per request, ${connections} connections`;
    report.add(what, found.ratio('shared', 'alone', 'perSecond'), rateBar, beside(found, 'shared', 'alone'));
  }
  const one = await alternate(both(1), rounds);
  const p50s = `${ms(one.median('shared', 'msP50'))} against ${ms(one.median('alone', 'msP50'))} ms`;
  report.add(
    'p50 with one connection / one query per request',
    one.ratio('shared', 'alone', 'msP50'),
    { atMost: 1.3 },
    p50s,
  );
}
