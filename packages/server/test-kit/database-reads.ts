/** Counts the questions that requests make this process ask of its databases, by any driver. */
import { mock } from 'node:test';
import type { Db } from '../src/foundation/database/db.ts';
import { PostgresDb } from '../src/foundation/database/postgres.ts';
import { SqliteDb } from '../src/foundation/database/sqlite.ts';

export interface DatabaseReads extends Disposable {
  /** Of each question that shares a read. */
  readonly count: () => number;
  /** Of those that may be shared. */
  readonly shared: () => number;
}

export function countDatabaseReads(): DatabaseReads {
  // `get` of PostgreSQL asks by `all`.
  const alone = [mock.method(SqliteDb.prototype, 'get'), ...drivers.map((driver) => mock.method(driver, 'all'))];
  const shared = drivers.map((driver) => mock.method(driver, 'getMany'));
  const sharedCount = (): number =>
    sum(shared.flatMap((spy) => spy.mock.calls.map(({ arguments: [, questions] }) => questions.length)));
  const asked = (): number =>
    sum(
      alone.map(
        ({ mock: { calls } }) => calls.filter(({ arguments: [statement] }) => !isOwnWork.test(statement.name)).length,
      ),
    );
  return {
    count: () => asked() + sharedCount(),
    shared: sharedCount,
    [Symbol.dispose]: () => [...alone, ...shared].forEach((spy) => spy.mock.restore()),
  };
}

/** What the service looks for each second by itself. */
const isOwnWork = /outbox|webhook|audit/;
const drivers: readonly Db[] = [SqliteDb.prototype, PostgresDb.prototype];

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
