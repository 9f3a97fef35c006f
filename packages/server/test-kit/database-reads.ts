/** Counts the reads of databases in this process, with any driver. */
import { mock } from 'node:test';
import type { Db } from '../src/foundation/database/db.ts';
import { PostgresDb } from '../src/foundation/database/postgres.ts';
import { SqliteDb } from '../src/foundation/database/sqlite.ts';

export interface DatabaseReads extends Disposable {
  /** All reads; each lookup of a shared read counts. */
  readonly count: () => number;
  /** The names of the statements that are not shared reads. */
  readonly names: () => string[];
  /** Lookups of shared reads. */
  readonly shared: () => number;
  /** The number of lookups of each shared read. */
  readonly sharedLengths: () => number[];
}

export function countDatabaseReads(): DatabaseReads {
  // `get` of PostgreSQL calls `all`.
  const single = [mock.method(SqliteDb.prototype, 'get'), ...drivers.map((driver) => mock.method(driver, 'all'))];
  const shared = drivers.map((driver) => mock.method(driver, 'getMany'));
  const sharedLengths = (): number[] =>
    shared.flatMap((spy) => spy.mock.calls.map(({ arguments: [, lookups] }) => lookups.length));
  const sharedCount = (): number => sum(sharedLengths());
  const names = (): string[] =>
    single
      .flatMap(({ mock: { calls } }) => calls.map(({ arguments: [statement] }) => statement.name))
      .filter((name) => !isPeriodic.test(name));
  return {
    count: () => names().length + sharedCount(),
    names,
    shared: sharedCount,
    sharedLengths,
    [Symbol.dispose]: () => [...single, ...shared].forEach((spy) => spy.mock.restore()),
  };
}

/** Reads that the service repeats by itself: of jobs and events every second, of housekeeping at the start and later. */
const isPeriodic =
  /outbox|unpublished|unfolded|key_names|keys_with_|usage_file|usage_generation|schema_migrations|un(?:us|chang)ed_keys|expiry_notice|page_key_meters/;
const drivers: readonly Db[] = [SqliteDb.prototype, PostgresDb.prototype];

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
