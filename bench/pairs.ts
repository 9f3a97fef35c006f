/** Programs that run at the same time on one core, each with a database, because one process serves an SQLite file. */
import { threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import type { Databases } from './databases.ts';
import { keyreeve } from './keyreeve.ts';
import { measure, type Load } from './measure.ts';
import { Programs, type Running } from './processes.ts';
import { beside } from './report.ts';
import { medianInterval, type Contender, type Rounds } from './rounds.ts';
import type { Seeded } from './seed.ts';

export interface Variant {
  /** Default: this version. */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes the database before the program starts. */
  readonly prepare?: (url: string) => Promise<void>;
}

interface Started {
  readonly running: Running;
  readonly seeded: Seeded;
}

export class ProgramsAtOnce implements AsyncDisposable {
  readonly #programs = new Programs();
  readonly #started = new Map<string, Started>();

  /** @param variants by name @param prefix of the names of the databases */
  static async start(
    databases: Databases,
    keys: number,
    variants: Readonly<Record<string, Variant>>,
    prefix = '',
  ): Promise<ProgramsAtOnce> {
    const all = new ProgramsAtOnce();
    for (const [name, { program, environment, prepare }] of Object.entries(variants)) {
      const seeded = await databases.seed(`${prefix}${name}`, keys);
      await prepare?.(seeded.databaseUrl);
      const running = all.#programs.add(await keyreeve('0', seeded, program, environment));
      all.#started.set(name, { running, seeded });
    }
    return all;
  }

  /** Their processor time is that of one process and its threads, which do not end. */
  contenders(loadOf: (seeded: Seeded) => Load): Contender[] {
    return [...this.#started].map(([name, { running, seeded }]) => ({
      name,
      run: () => measure(running, loadOf(seeded), '1', threadsProcessorMs),
    }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#programs[Symbol.asyncDispose]();
  }
}

/** @returns the bounds of the 95 % interval of the ratio of processor times, and a text with them and both programs */
export function intervalOf(
  found: Rounds,
  one: string,
  other: string,
): { readonly from: number; readonly text: string } {
  const [from, to] = medianInterval(found.ratios(one, other, 'processorUs'));
  return { from, text: `95 % interval ${from.toFixed(3)} to ${to.toFixed(3)}; ${beside(found, one, other)}` };
}
