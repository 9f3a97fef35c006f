/** The results of one figure, in the form of RESULTS.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineText } from './machine.ts';
import { median, medianInterval, percent, rounded, type Figure, type Rounds } from './rounds.ts';

/** What a measurement must reach. Without bounds, it is only reported. */
export interface Bar {
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Value {
  readonly values: readonly number[];
  readonly unit?: 'ms' | 'µs' | 'MiB' | '/s';
  readonly bar?: Bar;
  readonly details?: string;
}

const head = ['what', 'median', '95 % interval', 'required', '', 'details'];
const resultsPath = join(import.meta.dirname, 'RESULTS.md');

export class Report {
  readonly #rows: (readonly string[])[] = [];
  readonly #command: string;
  #noise: Rounds['noise'] = [];
  #voids = 0;

  /** @param command with its options, after `npm run bench -- ` */
  constructor(command: string) {
    this.#command = command;
  }

  add(what: string, { values, unit, bar = {}, details = '' }: Value): void {
    const middle = median(values);
    const [least, most] = medianInterval(values);
    const suffix = unit === undefined ? '' : ` ${unit}`;
    const interval = `${rounded(least)} to ${rounded(most)}${suffix}`;
    const row = [what, `${rounded(middle)}${suffix}`, interval, barText(bar, suffix), verdict(middle, bar), details];
    console.error(row.join(' | '));
    this.#rows.push(row);
  }

  /** The ratio of a figure of two sides, with the figures of both. */
  ratio(what: string, found: Rounds, [one, other, figure]: readonly [string, string, Figure], bar: Bar = {}): void {
    const details = `${one}: ${figuresText(found, one)}; ${other}: ${figuresText(found, other)}`;
    this.add(what, { values: found.ratios(one, other, figure), bar, details });
  }

  /** Adds the noise of the rounds to the line above the table. */
  note({ noise, voids }: Rounds): void {
    this.#noise = [...this.#noise, ...noise];
    this.#voids += voids;
  }

  toString(): string {
    const most = (which: 'steal' | 'foreign'): string =>
      percent(Math.max(0, ...this.#noise.map((each) => each[which])));
    const date = new Date().toISOString().slice(0, 10);
    const rounds = this.#noise.length + this.#voids;
    const noise = ` Of ${rounds} rounds, ${this.#voids} were void. In the others, at most ${most('steal')} steal and ${most('foreign')} foreign load.`;
    const table = [head, head.map(() => '---'), ...this.#rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
    return `\`npm run bench -- ${this.#command}\` on ${date}: ${machineText()}.${rounds === 0 ? '' : noise}\n\n${table}`;
  }
}

/** Percentiles, processor time and rate of a side: those that were measured. */
function figuresText(found: Rounds, name: string): string {
  const text = (figure: Figure, before: string, after: string): string[] =>
    found.has(name, figure) ? [`${before}${rounded(found.median(name, figure))}${after}`] : [];
  return [
    ...text('msP50', 'p50 ', ' ms'),
    ...text('msP99', 'p99 ', ' ms'),
    ...text('processorUs', '', ' µs'),
    ...text('perSecond', '', '/s'),
    ...text('othersPerSecond', 'others ', '/s'),
  ].join(', ');
}

function barText({ atMost, atLeast }: Bar, suffix: string): string {
  if (atMost !== undefined) return `at most ${atMost}${suffix}`;
  return atLeast === undefined ? '' : `at least ${atLeast}${suffix}`;
}

export function verdict(value: number, { atMost, atLeast }: Bar): string {
  if (atMost === undefined && atLeast === undefined) return '';
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity) ? 'met' : '**missed**';
}

/** @returns the text of RESULTS.md with another paragraph and table after the command @throws Error if it lacks the command */
export function withResult(text: string, name: string, result: string): string {
  const block = new RegExp(`^\`npm run bench -- ${name}[\` ][^]*?(?=\\n\\n(?!\\|)|\\n*$(?![^]))`, 'm');
  if (!block.test(text)) throw new Error(`RESULTS.md has no paragraph that begins with the command ${name}`);
  return text.replace(block, () => result);
}

export function recordResult(name: string, result: string): void {
  writeFileSync(resultsPath, withResult(readFileSync(resultsPath, 'utf8'), name, result));
}
