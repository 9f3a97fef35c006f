/**
 * Rounds that alternate between contenders, so that a machine whose speed drifts slows all of them. What is reported of
 * each is the median over its rounds, and of two the median of the ratios of neighbouring rounds.
 */
import type { LoadResult } from './load.ts';

export type Figure = 'perSecond' | 'msP50' | 'msP99' | 'processorUs';

/** Of one round. */
export interface Measured extends LoadResult {
  /** Processor time of the asked program for a request. What else keeps the machine busy moves it least. */
  readonly processorUs?: number;
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

  /** How many times the one's figure is the other's, in the same round. */
  ratio(name: string, other: string, figure: Figure): number {
    const others = this.#of(other);
    return median(
      this.#of(name).map((round, index) => (round[figure] ?? Number.NaN) / (others[index]?.[figure] ?? Number.NaN)),
    );
  }

  #of(name: string): readonly Measured[] {
    const rounds = this.#byName.get(name);
    if (!rounds) throw new Error(`${name} was not measured`);
    return rounds;
  }
}

/** @throws Error when a request was not answered as expected: a rate of refusals would be no rate */
export async function alternate(contenders: readonly Contender[], rounds: number): Promise<Rounds> {
  const byName = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of contenders) {
      const result = await run();
      if (result.failures > 0) {
        throw new Error(`${name}: ${result.failures} of ${result.requests} requests failed: ${result.firstFailure}`);
      }
      byName.get(name)?.push(result);
    }
  }
  return new Rounds(byName);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A table of Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

export const rate = (perSecond: number): string => Math.round(perSecond).toLocaleString('en');
export const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
