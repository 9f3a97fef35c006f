/** The client libraries compared with one request for each verification: `npm run bench -- sdk`, and `sdk-go` for Go. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { keyreeve, repository } from './keyreeve.ts';
import { generatorCore, oneCore } from './machine.ts';
import { Programs, run, script, type MeasuredLoad } from './processes.ts';
import type { Bar, Report } from './report.ts';
import type { Side } from './rounds.ts';
import type { SdkLoadOptions } from './sdk-load.ts';

const keysMax = 20_000;

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
type LoadResult = Pick<MeasuredLoad, 'failures' | 'requests' | 'perSecond' | 'msP50' | 'msP99'>;

export const sdk = (bench: Bench, report: Report): Promise<void> =>
  compare(bench, report, (load) => run(script('sdk-load.ts', JSON.stringify(load)), { cores: generatorCore }));

/** The same for the Go library, with a program that sends one request each over `net/http`. */
export function sdkOfGo(bench: Bench, report: Report): Promise<void> {
  const program = bench.file('sdk-load');
  const source = join(repository, 'packages/go');
  execFileSync('go', ['build', '-o', program, './test/load'], { cwd: source, stdio: 'inherit' });
  return compare(bench, report, (load) => run([program, JSON.stringify(load)], { cores: generatorCore }));
}

/** The server has one core, the client the other. */
async function compare(bench: Bench, report: Report, load: Load): Promise<void> {
  const { seconds } = bench.options;
  const seeded = await (await bench.databases('sqlite')).seed('sdk', Math.min(keysMax, bench.options.keys));
  await using programs = new Programs();
  const { port } = programs.add(await keyreeve(seeded, { cores: oneCore }));
  for (const { loops, rate, p50 } of levels) {
    const sides = ways.map((how): Side => ({
      name: how,
      run: async () => {
        const options = { port, serviceKey: seeded.serviceKey, keys: seeded.keys, how, loops, seconds };
        const result = await load(options);
        if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} verifications failed`);
        return result;
      },
    }));
    const found = await bench.compare(report, sides);
    const title = `${loops} at once, library / one request each`;
    report.ratio(`${title}: rate`, found, [library, single, 'perSecond'], rate);
    report.ratio(`${title}: p50`, found, [library, single, 'msP50'], p50);
  }
}
