/** Runs a store's contract once for every database that stores must work on, each time on a new, empty one. */
import { test, type TestOptions } from 'node:test';
import { databases, emptyDatabases, type TestDb } from './new-db.ts';
import type { Db } from '../src/foundation/database/db.ts';

type Prove = (opened: TestDb) => Promise<void>;
type Options = [prove: Prove] | [options: TestOptions, prove: Prove];

export const onEachDatabase = (guarantee: string, ...rest: Options): void => onEach(databases, guarantee, ...rest);

/** Without tables. */
export const onEachEmptyDatabase = (guarantee: string, ...rest: Options): void =>
  onEach(emptyDatabases, guarantee, ...rest);

function onEach(kinds: typeof databases, guarantee: string, ...[options, body]: Options): void {
  const [settings, prove] = typeof options === 'function' ? [{}, options] : [options, body];
  for (const [name, open] of Object.entries(kinds)) {
    test(`${guarantee} (${name})`, settings, async () => {
      await using opened = await open();
      await prove?.(opened);
    });
  }
}

/** As many as a race has at least. */
export const rivalsMin = 16;

/** Runs the same thing at once from two connections, in turn. @returns what each came to, in order */
export async function race<T>(
  { db, connect }: TestDb,
  rivals: number,
  attempt: (db: Db, rival: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const other = await connect();
  return Promise.allSettled(Array.from({ length: rivals }, (_, rival) => attempt(rival % 2 === 0 ? db : other, rival)));
}

/** The values of a race in which nobody may fail. */
export async function raceToValues<T>(
  opened: TestDb,
  rivals: number,
  attempt: (db: Db, rival: number) => Promise<T>,
): Promise<T[]> {
  const settled = await race(opened, rivals, attempt);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** How often each value occurs, by its text. */
export function tally(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

/** How a race ended: what was fulfilled by its value, what was refused by its code. */
export const outcomes = (settled: readonly PromiseSettledResult<unknown>[]): Record<string, number> =>
  tally(settled.map((result) => (result.status === 'fulfilled' ? result.value : codeOf(result.reason))));

export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : String(error);
