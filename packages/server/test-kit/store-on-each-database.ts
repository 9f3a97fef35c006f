/** Runs the tests of a store once for each database kind, each time on a new database. */
import { test, type TestOptions } from 'node:test';
import { databases, emptyDatabases, type TestDb } from './new-db.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { whenDone } from './when-available.ts';

type Prove = (opened: TestDb) => Promise<void>;
type Options = [prove: Prove] | [options: TestOptions, prove: Prove];

export const onEachDatabase = (guarantee: string, ...rest: Options): void => onEach(databases, guarantee, ...rest);

/** On a database without tables. */
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

/** Minimum number of concurrent operations in a race test. */
export const rivalsMin = 16;

/**
 * Runs the same operation concurrently on two connections, alternating. An operation that was unavailable, without an effect, is
 * repeated: on a busy machine, it can wait longer for its turn than the database permits.
 * @returns the results in order
 */
export async function race<T>(
  { db, connect }: TestDb,
  rivals: number,
  attempt: (db: Db, rival: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const other = await connect();
  const rival = (_: unknown, index: number): Promise<T> => whenDone(() => attempt(index % 2 === 0 ? db : other, index));
  return Promise.allSettled(Array.from({ length: rivals }, rival));
}

/** The values of a race in which no operation may fail. */
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

/** Counts the values by their text. */
export function tally(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

/** Counts the outcomes of a race: values of fulfilled operations, and error codes of rejected ones. */
export const outcomes = (settled: readonly PromiseSettledResult<unknown>[]): Record<string, number> =>
  tally(settled.map((result) => (result.status === 'fulfilled' ? result.value : codeOf(result.reason))));

export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : String(error);
