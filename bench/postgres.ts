/** Keyreeve on PostgreSQL, compared with its limit, with one query per request, and while keys are created and deleted. */
import { Databases, type BenchOptions } from './databases.ts';
import { interference } from './interference.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { contender } from './measure.ts';
import { Programs, type Running } from './processes.ts';
import { Report } from './report.ts';
import { alternate, generatorNote } from './rounds.ts';
import type { Seeded } from './seed.ts';
import { throughput } from './throughput.ts';
import { variantOf } from './variant.ts';

const bars = { forward: { atMost: 2.2, goal: 1.7 }, nodeHttp: {}, verify: {}, batch: {} };
const manyConnections = [64, 256];

export async function postgres(options: BenchOptions): Promise<string> {
  const { rounds, seconds } = options;
  const report = new Report();
  await using databases = await Databases.start('postgres', options.folder);
  const seeded = await databases.seed('keys', options.keys);
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
  { rounds, seconds }: BenchOptions,
): Promise<void> {
  const both = (connections: number) => {
    const load = { connections, seconds, request: forwardRequest(keys) };
    return [contender('shared', server, load), contender('alone', other, load)];
  };
  for (const connections of manyConnections) {
    const found = await alternate(both(connections), rounds, 1);
    const what = `rate of \`GET /auth/forward\` / one query per request, ${connections} connections`;
    report.ratio(what, found, ['shared', 'alone', 'perSecond'], { atLeast: 2 });
  }
  const one = await alternate(both(1), rounds);
  report.ratio('p50 with one connection / one query per request', one, ['shared', 'alone', 'msP50'], { atMost: 1.3 });
}
