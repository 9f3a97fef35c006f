/** Keyreeve on PostgreSQL, compared with its limit, and while keys are created and deleted. */
import { Databases, type BenchOptions } from './databases.ts';
import { interference } from './interference.ts';
import { keyreeve } from './keyreeve.ts';
import { Programs } from './processes.ts';
import { Report } from './report.ts';
import { generatorNote } from './rounds.ts';
import { throughput } from './throughput.ts';

const bars = { forward: { atMost: 2.2, goal: 1.7 }, nodeHttp: {}, verify: {}, batch: {} };
const manyConnections = [64, 256];

export async function postgres(options: BenchOptions): Promise<string> {
  const { rounds, seconds } = options;
  const report = new Report();
  await using databases = await Databases.start('postgres', options.folder);
  const seeded = await databases.seed('keys', options.keys);
  {
    await using programs = new Programs();
    const limit = await programs.start('0', './limit-server.ts', ['0']);
    const server = programs.add(await keyreeve('0', seeded));
    for (const connections of manyConnections) {
      await throughput(report, { server, limit, seeded, connections, rounds, seconds, bars });
    }
  }
  await interference(report, seeded, options);
  return [String(report), generatorNote].join('\n\n');
}
