/** The hot path on SQLite, compared with its limit: `npm run bench`. */
import { join } from 'node:path';
import { interference } from './interference.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { contender, measure } from './measure.ts';
import { Programs } from './processes.ts';
import { residentMib, treeResidentMib } from '../packages/server/test-kit/processor-time.ts';
import { Report } from './report.ts';
import { alternate, generatorNote, rate } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { beside, throughput } from './throughput.ts';

export interface HotPathOptions {
  readonly keys: number;
  /** Number of keys in a second, larger database; 0 skips it. */
  readonly many: number;
  /** Number of verifications before the server's memory is measured. */
  readonly verifications: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

const connections = 64;
const bars = {
  forward: { atMost: 1.9, goal: 1.5 },
  nodeHttp: { atMost: 2.2 },
  verify: { atLeast: 0.45 },
  batch: { atMost: 0.9, goal: 0.6 },
};

export async function hotPath(options: HotPathOptions): Promise<string> {
  const report = new Report();
  const seedFile = (name: string, keys: number): Promise<Seeded> => {
    console.error(`seeding ${keys} keys`);
    const path = join(options.folder, `${name}.db`);
    return seed(`sqlite:${path}`, `${path}.keys`, keys);
  };
  const small = await seedFile('small', options.keys);
  await timeAndMemory(report, small, options);
  await interference(report, small, options);
  if (options.many > 0) await size(report, small, await seedFile('many', options.many), options);
  return [String(report), generatorNote].join('\n\n');
}

async function timeAndMemory(report: Report, seeded: Seeded, options: HotPathOptions): Promise<void> {
  const { verifications, rounds, seconds } = options;
  await using programs = new Programs();
  const limit = await programs.start('0', './limit-server.ts', ['0']);
  const server = programs.add(await keyreeve('0', seeded));
  report.add('start to first response', server.startMs, { atMost: 500, unit: ' ms' });
  await throughput(report, { server, limit, seeded, connections, rounds, seconds, bars });
  const load = { connections, seconds, request: forwardRequest(seeded.keys) };
  for (let sent = 0; sent < verifications; sent += (await measure(server, load)).requests);
  const pid = server.process.pid ?? 0;
  report.add(
    `anonymous resident memory after ${rate(verifications)} verifications`,
    treeResidentMib(pid, 'RssAnon'),
    { atMost: 150, unit: ' MiB' },
    `main process ${Math.round(residentMib(pid, 'RssAnon'))} MiB; with pages of files ${Math.round(treeResidentMib(pid))} MiB`,
  );
}

async function size(report: Report, small: Seeded, many: Seeded, { keys, ...options }: HotPathOptions): Promise<void> {
  const { rounds, seconds } = options;
  await using programs = new Programs();
  const ofSize = async (name: string, seeded: Seeded) =>
    contender(name, programs.add(await keyreeve('0', seeded)), {
      connections,
      seconds,
      request: forwardRequest(seeded.keys),
    });
  const contenders = [await ofSize('small', small), await ofSize('many', many)];
  await alternate(contenders, 1);
  const found = await alternate(contenders, rounds);
  report.add(
    `processor time per verification, ${rate(options.many)} keys / ${rate(keys)} keys`,
    found.ratio('many', 'small', 'processorUs'),
    { atMost: 1.2 },
    beside(found, 'many', 'small'),
  );
}
