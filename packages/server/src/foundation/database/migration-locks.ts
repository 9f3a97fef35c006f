/**
 * How a migration on PostgreSQL locks its tables while other instances run. `alter table` waits for every transaction that has
 * read the table, such as a backup, and later reads of the table wait for `alter table`. A migration therefore waits for less
 * than the time limit of a read (`postgresStatementMsMax`), releases its tables, and repeats after a longer pause.
 */
import { limits } from '@keyreeve/contract';
import type { Transaction } from './db.ts';
import { DomainError } from '../errors.ts';
import { sql } from './sql.ts';

const { postgresMigrationLockMs: lockMs, postgresMigrationPauseMs: pauseMs } = limits;
const boundLockWaits = sql<object>('bound_lock_waits', `select set_config('lock_timeout', '${lockMs}', true)`);
const pause = sql<object>('pause_migration', `select pg_sleep(${pauseMs / 1000})`);

/** Bounds the lock waits of the following statements. `migrate` locks out other migrations before, and that wait has no bound. */
export const boundLockWaitsTx = async (tx: Transaction): Promise<void> => void (await tx.get(boundLockWaits));

/**
 * The pause before a repetition. It is a part of the transaction, which locks out other migrations: otherwise, several new
 * instances would repeat one after another, and running instances would rarely find the tables unlocked.
 */
export const pauseTx = async (tx: Transaction): Promise<void> => void (await tx.get(pause));

/**
 * Locks the tables that the statements alter. Without this lock, a migration could change one table, such as add an index,
 * and then wait for another. Each repetition would lock the first table for the time of that work.
 * @returns the text of the statement; undefined if the statements alter only tables that they create
 */
export function lockOfAlteredTables(statements: readonly string[]): string | undefined {
  const created = new Set(namesIn(statements, /^create table (\w+)/));
  const altered = new Set(namesIn(statements, /^alter table (\w+)/)).difference(created);
  return altered.size > 0 ? `lock table ${[...altered].join(', ')} in access exclusive mode` : undefined;
}

const namesIn = (statements: readonly string[], pattern: RegExp): string[] =>
  statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []);

/**
 * For a migration that could not lock its tables. Not a SchemaError: systemd does not restart a service that exits with the
 * status of a SchemaError.
 */
export const tablesInUse = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail:
      'a backup or another long transaction reads the database, so the migration could not lock its tables; the schema is unchanged. ' +
      'Wait until the transaction has ended (pg_stat_activity lists it), and start this program again',
    cause,
  });
