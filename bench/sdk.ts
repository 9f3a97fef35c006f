/** The client libraries compared with one request for each verification: `npm run bench -- sdk`, and `sdk-go` for Go. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { BenchOptions } from './databases.ts';
import { keyreeve } from './keyreeve.ts';
import type { LoadResult } from './load.ts';
import { executeProgram, Programs, run } from './processes.ts';
import { Report, type Bar } from './report.ts';
import { alternate, type Contender } from './rounds.ts';
import type { SdkLoadOptions } from './sdk-load.ts';
import { seed } from './seed.ts';

interface Level {
  /** Verifications in progress. */
  readonly loops: number;
  readonly rate: Bar;
  readonly p50: Bar;
}

const levels: readonly Level[] = [
  { loops: 1, rate: {}, p50: { atMost: 1.1 } },
  { loops: 8, rate: {}, p50: { atMost: 1 } },
  { loops: 64, rate: { atLeast: 3 }, p50: { atMost: 1 } },
  { loops: 256, rate: { atLeast: 5 }, p50: { atMost: 1 } },
];

const ways = ['library', 'one request each'] as const;
const [library, single] = ways;

type Load = (options: SdkLoadOptions) => Promise<LoadResult>;

export const sdk = (options: BenchOptions): Promise<string> =>
  compare(options, (load) => run<LoadResult>('1', './sdk-load.ts', load));

/** The same for the Go library, with a program that sends one request each over `net/http`. */
export function sdkOfGo(options: BenchOptions): Promise<string> {
  const program = join(options.folder, 'sdk-load');
  const source = join(import.meta.dirname, '../packages/go');
  execFileSync('go', ['build', '-o', program, './test/load'], { cwd: source, stdio: 'inherit' });
  return compare(
    options,
    async (load) => JSON.parse(await executeProgram('1', [program, JSON.stringify(load)])) as LoadResult,
  );
}

/** The server has one core, the client the other. */
async function compare({ keys, rounds, seconds, folder }: BenchOptions, load: Load): Promise<string> {
  const seeded = await seed(`sqlite:${join(folder, 'sdk.db')}`, join(folder, 'sdk'), keys);
  await using programs = new Programs();
  const { port } = programs.add(await keyreeve('0', seeded));
  const report = new Report();
  for (const { loops, rate, p50 } of levels) {
    const contenders = ways.map((how): Contender => {
      const options: SdkLoadOptions = { port, serviceKey: seeded.serviceKey, keys: seeded.keys, how, loops, seconds };
      return { name: how, run: () => load(options) };
    });
    const found = await alternate(contenders, rounds);
    const title = `${loops} at once, library / one request each`;
    const rates = `${found.rate(library)} against ${found.rate(single)} verifications/s`;
    report.ratio(`${title}: rate`, found, [library, single, 'perSecond', rates], rate);
    report.ratio(`${title}: p50`, found, [library, single, 'msP50'], p50);
  }
  return String(report);
}
