/** A table of measurements with their bars, in the form of RESULTS.md. */
import { table } from './rounds.ts';

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

  toString(): string {
    return table(['what', 'measured', 'bar', ''], this.#rows);
  }
}

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
