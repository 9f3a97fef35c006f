/** A table of measurements with their bars, in the form of RESULTS.md. */
import { ms, table, type Figure, type Rounds } from './rounds.ts';

/** @param database `sqlite` or `postgres` */
export const titleOf = (database: string): string => (database === 'postgres' ? 'PostgreSQL' : 'SQLite');

/** What a measurement must reach, and a stricter goal. Without bounds, the measurement is only reported. */
export interface Bar {
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly goal?: number;
  /** For example ` MiB`. */
  readonly unit?: string;
}

export class Report {
  readonly #rows: (readonly string[])[] = [];

  /** @param details are added to the value, in parentheses */
  add(what: string, value: number, bar: Bar, details = ''): void {
    const { unit = '' } = bar;
    const text = unit === '' ? value.toFixed(2) : `${Math.round(value)}${unit}`;
    const row = [what, details === '' ? text : `${text} (${details})`, barText(bar), verdict(value, bar)];
    console.error(row.join(' | '));
    this.#rows.push(row);
  }

  /** The ratio of the figures of two contenders. @param details default: the values of both */
  ratio(
    what: string,
    found: Rounds,
    [one, other, figure, details]: readonly [one: string, other: string, figure: Figure, details?: string],
    bar: Bar,
  ): void {
    const values = figure.startsWith('ms') ? timesOf(found, one, other, figure) : beside(found, one, other);
    this.add(what, found.ratio(one, other, figure), bar, details ?? values);
  }

  toString(): string {
    return table(['what', 'measured', 'bar', ''], this.#rows);
  }
}

/** @returns the processor times and rates of two contenders */
export const beside = (found: Rounds, one: string, other: string): string =>
  `${us(found.median(one, 'processorUs'))} against ${us(found.median(other, 'processorUs'))} µs, ` +
  `${found.rate(one)} against ${found.rate(other)} requests/s`;

/** @returns a percentile of two contenders */
export const timesOf = (found: Rounds, one: string, other: string, figure: Figure): string =>
  `${ms(found.median(one, figure))} against ${ms(found.median(other, figure))} ms`;

export const us = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

export function barText({ atMost, atLeast, goal, unit = '' }: Bar): string {
  const bar = atMost === undefined ? (atLeast === undefined ? 'none' : `at least ${atLeast}`) : `at most ${atMost}`;
  return `${bar}${bar === 'none' ? '' : unit}${goal === undefined ? '' : `, goal ${goal}${unit}`}`;
}

export function verdict(value: number, { atMost, atLeast, goal }: Bar): string {
  if (atMost === undefined && atLeast === undefined) return '';
  // As the table shows it.
  const rounded = Math.round(value * 100) / 100;
  const reaches = (most = Infinity, least = -Infinity): boolean => rounded <= most && rounded >= least;
  if (!reaches(atMost, atLeast)) return '**missed**';
  if (goal === undefined) return 'met';
  return (atMost === undefined ? reaches(undefined, goal) : reaches(goal)) ? 'goal met' : 'met';
}
