/**
 * Alternates rounds of all sides of a comparison, so that changes in the speed of the machine affect all of them. Results are
 * medians over the rounds, and medians of the ratios within a round. A round in which the machine did something else is void.
 */
import { watchMachine, type Noise } from './machine.ts';

/** What a side can measure. */
const figures = [
  'perSecond',
  'msP50',
  'msP99',
  'processorUs',
  'generatorShare',
  'othersPerSecond',
  'succeeded',
  'startMs',
  'mainMib',
  'verifierMib',
] as const;
export type Figure = (typeof figures)[number];

/** The result of one side in one round. */
export interface Measured extends Partial<Readonly<Record<Figure, number>>> {
  /** Why the round does not count. */
  readonly isVoid?: string;
}

export interface Side {
  readonly name: string;
  readonly run: () => Promise<Measured>;
}

export interface RoundOptions {
  readonly rounds: number;
  /** Discarded rounds before the others. */
  readonly warmUp?: number;
  /** Of steal and of foreign load. */
  readonly noiseMax: number;
  readonly watch?: () => () => Noise;
  readonly print?: (line: string) => void;
}

/** Rounds that are started for each one that counts, at most. */
const attemptsPerRound = 3;

export class Rounds {
  readonly #rounds: readonly ReadonlyMap<string, Measured>[];
  readonly noise: readonly Noise[];
  readonly voids: number;

  constructor(rounds: readonly ReadonlyMap<string, Measured>[], noise: readonly Noise[] = [], voids = 0) {
    this.#rounds = rounds;
    this.noise = noise;
    this.voids = voids;
  }

  has(name: string, figure: Figure): boolean {
    return this.#rounds.every((round) => round.get(name)?.[figure] !== undefined);
  }

  /** @returns the figure in each round @throws Error if it was not measured */
  values(name: string, figure: Figure): number[] {
    return this.#rounds.map((round) => {
      const value = round.get(name)?.[figure];
      if (value === undefined) throw new Error(`${figure} of ${name} was not measured`);
      return value;
    });
  }

  median(name: string, figure: Figure): number {
    return median(this.values(name, figure));
  }

  /** @returns the figure divided by that of another side, within each round */
  ratios(name: string, other: string, figure: Figure): number[] {
    const others = this.values(other, figure);
    return this.values(name, figure).map((value, index) => value / (others[index] ?? Number.NaN));
  }
}

/**
 * Every second round has the reverse order.
 * @throws Error if too many rounds are void
 */
export async function alternate(sides: readonly Side[], options: RoundOptions): Promise<Rounds> {
  const { rounds, warmUp = 1, noiseMax, watch = watchMachine, print = console.error } = options;
  for (let round = 0; round < warmUp; round++) await runRound(sides, watch);
  const kept: Round[] = [];
  let attempts = 0;
  while (kept.length < rounds) {
    if (attempts === rounds * attemptsPerRound)
      throw new Error(`${attempts - kept.length} of ${attempts} rounds are void: the machine is not quiet`);
    attempts++;
    const round = await runRound(attempts % 2 === 1 ? sides : sides.toReversed(), watch);
    const problem = problemOf(round, noiseMax);
    if (problem === undefined) kept.push(round);
    print(`round ${attempts}: ${textOf(round)}${problem === undefined ? '' : `; void: ${problem}`}`);
  }
  const noise = kept.map((round) => round.noise);
  return new Rounds(
    kept.map(({ bySide }) => bySide),
    noise,
    attempts - rounds,
  );
}

interface Round {
  readonly bySide: ReadonlyMap<string, Measured>;
  readonly noise: Noise;
}

async function runRound(sides: readonly Side[], watch: () => () => Noise): Promise<Round> {
  const noiseSince = watch();
  const bySide = new Map<string, Measured>();
  for (const { name, run } of sides) bySide.set(name, await run());
  return { bySide, noise: noiseSince() };
}

function problemOf({ bySide, noise }: Round, noiseMax: number): string | undefined {
  if (noise.steal > noiseMax) return 'steal';
  if (noise.foreign > noiseMax) return 'foreign load';
  return [...bySide.values()].find(({ isVoid }) => isVoid !== undefined)?.isVoid;
}

function textOf({ bySide, noise }: Round): string {
  const sides = [...bySide].map(([name, measured]) => {
    const texts = figures.flatMap((figure) => {
      const value = measured[figure];
      return value === undefined ? [] : [`${figure} ${rounded(value)}`];
    });
    return `${name}: ${texts.join(', ')}`;
  });
  return [...sides, `steal ${percent(noise.steal)}, foreign load ${percent(noise.foreign)}`].join('; ');
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/**
 * The 95 % confidence interval of the median, by the binomial distribution of ranks.
 * @returns the extremes if there are fewer than 9 values
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

/** @returns the number with three significant digits, and with separators from 1,000 on */
export const rounded = (value: number): string =>
  value.toLocaleString('en', value < 1_000 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 });
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
