/**
 * Alternates rounds of all contenders, so that changes in the speed of the machine affect all of them. Results are medians
 * over the rounds, and medians of the ratios within a round.
 */
import type { LoadResult } from './load.ts';

export type Figure = 'perSecond' | 'msP50' | 'msP99' | 'processorUs';

/** Above this share of the time, a single-threaded program uses its core completely. */
const busyShare = 0.9;

/** The result of one round. */
export interface Measured extends LoadResult {
  /** Processor time of the measured program per request. Other load on the machine affects it least. */
  readonly processorUs?: number;
  /** Processor time of the measured program divided by the duration. */
  readonly programShare?: number;
}

export interface Contender {
  readonly name: string;
  readonly run: () => Promise<Measured>;
}

export class Rounds {
  readonly #byName: ReadonlyMap<string, readonly Measured[]>;

  constructor(byName: ReadonlyMap<string, readonly Measured[]>) {
    this.#byName = byName;
  }

  median(name: string, figure: Figure): number {
    return median(this.#of(name).map((round) => round[figure] ?? Number.NaN));
  }

  /** @returns the median of `name`'s figure divided by `other`'s in the same round */
  ratio(name: string, other: string, figure: Figure): number {
    return median(this.ratios(name, other, figure));
  }

  /** @returns the ratio within each round */
  ratios(name: string, other: string, figure: Figure): number[] {
    const others = this.#of(other);
    return this.#of(name).map(
      (round, index) => (round[figure] ?? Number.NaN) / (others[index]?.[figure] ?? Number.NaN),
    );
  }

  /**
   * @returns whether the load generator was busy in most rounds while the program was idle at times. The rate is then that
   *   of the generator, and only processor times can be compared.
   */
  isGeneratorBound(name: string): boolean {
    const rounds = this.#of(name);
    const bound = rounds.filter(
      ({ generatorShare, programShare = 1 }) => generatorShare >= busyShare && programShare < busyShare,
    );
    return bound.length * 2 > rounds.length;
  }

  /** @returns the median rate, with an asterisk if it is that of the load generator */
  rate(name: string): string {
    return `${rate(this.median(name, 'perSecond'))}${this.isGeneratorBound(name) ? '*' : ''}`;
  }

  #of(name: string): readonly Measured[] {
    const rounds = this.#byName.get(name);
    if (!rounds) throw new Error(`${name} was not measured`);
    return rounds;
  }
}

/**
 * @param warmUp rounds before the measured ones, which are discarded
 * @throws Error if a response was not the expected one, because a rate of rejections is meaningless
 */
export const alternate = (contenders: readonly Contender[], rounds: number, warmUp = 0): Promise<Rounds> =>
  inRounds(contenders, { rounds, warmUp }, async (record) => {
    for (const { name, run } of contenders) record(name, await run());
  });

/**
 * Runs all contenders at the same time, so that a busy machine affects all of them equally: for processor times of programs on
 * the same core. @throws Error as {@link alternate}
 */
export const together = (contenders: readonly Contender[], rounds: number, warmUp = 0): Promise<Rounds> =>
  inRounds(contenders, { rounds, warmUp }, async (record) => {
    await Promise.all(contenders.map(async ({ name, run }) => record(name, await run())));
  });

type Recorder = (name: string, result: Measured) => void;

async function inRounds(
  contenders: readonly Contender[],
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
  run: (record: Recorder) => Promise<void>,
): Promise<Rounds> {
  const byName = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]));
  const record: Recorder = (name, result) => {
    const { failures, requests, firstFailure } = result;
    if (failures > 0) throw new Error(`${name}: ${failures} of ${requests} requests failed: ${firstFailure}`);
    byName.get(name)?.push(result);
  };
  for (let round = 0; round < warmUp + rounds; round++) await run(record);
  for (const measured of byName.values()) measured.splice(0, warmUp);
  return new Rounds(byName);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * The 95 % confidence interval of the median, by the binomial distribution of ranks.
 * @returns the extremes if there are fewer than 6 values
 */
export function medianInterval(values: readonly number[]): readonly [least: number, most: number] {
  const sorted = values.toSorted((a, b) => a - b);
  let below = 0;
  // The probability that `rank` values or fewer are on one side of the median.
  let probability = 0.5 ** sorted.length;
  for (let rank = 1, term = probability; probability <= 0.025; rank++) {
    below = rank;
    term *= (sorted.length - rank + 1) / rank;
    probability += term;
  }
  const index = Math.max(0, below - 1);
  return [sorted[index] ?? Number.NaN, sorted[sorted.length - 1 - index] ?? Number.NaN];
}

/** @returns a Markdown table */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Explains the asterisk of {@link Rounds.rate}. */
export const generatorNote = '\\* The load generator was the bottleneck: compare processor times, not rates.';

export const rate = (perSecond: number): string => Math.round(perSecond).toLocaleString('en');
export const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
