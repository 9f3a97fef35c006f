/**
 * How a migration on PostgreSQL gets its tables while other instances run. `alter table` waits for every transaction that has
 * read the table, such as a backup, and later reads of the table wait for `alter table`. A migration therefore waits for less
 * time than a read may take, releases its tables, and repeats after a longer pause.
 */
import { limits } from '@keyreeve/contract';
import type { Transaction } from './db.ts';
import { DomainError } from '../errors.ts';
import { sql } from './sql.ts';

const { postgresMigrationLockMs: lockMs, postgresMigrationPauseMs: pauseMs } = limits;
const boundLockWaits = sql<object>('bound_lock_waits', `select set_config('lock_timeout', '${lockMs}', true)`);
const pause = sql<object>('pause_migration', `select pg_sleep(${pauseMs / 1000})`);

/** For the following statements. The lock of the migrations themselves is taken before: its wait has no bound. */
export const boundLockWaitsTx = async (tx: Transaction): Promise<void> => void (await tx.get(boundLockWaits));

/**
 * The pause before a repetition. It is a part of the transaction, which keeps the lock of the migrations: otherwise, several
 * new instances would repeat in turn, and tables would hardly have a pause.
 */
export const pauseTx = async (tx: Transaction): Promise<void> => void (await tx.get(pause));

/**
 * Locks the tables that the statements alter. Without this, the wait for one table would follow the work on others, such as
 * a new index, and each repetition would lock them for the time of that work.
 * @returns the text of the statement; undefined if the statements alter only tables that they create
 */
export function lockOfAlteredTables(statements: readonly string[]): string | undefined {
  const created = new Set(namesIn(statements, /^create table (\w+)/));
  const altered = new Set(namesIn(statements, /^alter table (\w+)/)).difference(created);
  return altered.size > 0 ? `lock table ${[...altered].join(', ')} in access exclusive mode` : undefined;
}

const namesIn = (statements: readonly string[], pattern: RegExp): string[] =>
  statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []);

/** For migrations that did not get their tables. Not a SchemaError, after whose status systemd does not start the service again. */
export const tablesInUse = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail:
      'a backup or another long transaction reads the database, so the migration could not lock its tables; the schema is unchanged. ' +
      'Wait until the transaction has ended (pg_stat_activity lists it), and start this program again',
    cause,
  });
