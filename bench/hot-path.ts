/** The hot path on SQLite, compared with its limit: `npm run bench`. */
import { Databases, type BenchOptions } from './databases.ts';
import { interference } from './interference.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { contender, measure } from './measure.ts';
import { Programs } from './processes.ts';
import { residentMib, treeResidentMib } from '../packages/server/test-kit/processor-time.ts';
import { Report } from './report.ts';
import { alternate, generatorNote, rate } from './rounds.ts';
import type { Seeded } from './seed.ts';
import { throughput } from './throughput.ts';

export interface HotPathOptions extends BenchOptions {
  /** Number of keys in a second, larger database; 0 skips it. */
  readonly many: number;
  /** Number of verifications before the server's memory is measured. */
  readonly verifications: number;
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
  await using databases = await Databases.start('sqlite', options.folder);
  const small = await databases.seed('small', options.keys);
  await timeAndMemory(report, small, options);
  await interference(report, small, options);
  if (options.many > 0) await size(report, small, await databases.seed('many', options.many), options);
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
  const found = await alternate(contenders, rounds, 1);
  const what = `processor time per verification, ${rate(options.many)} keys / ${rate(keys)} keys`;
  report.ratio(what, found, ['many', 'small', 'processorUs'], { atMost: 1.2 });
}
