/**
 * How a migration on PostgreSQL locks its tables while other instances run. `alter table` waits for every transaction that has
 * read the table, such as a backup, and later reads of the table wait for `alter table`. A migration therefore waits for less
 * than the time limit of a read (`postgresStatementMsMax`), releases its tables, and repeats after a longer pause.
 */
import { limits } from '@keyreeve/contract/limits';
import type { Transaction } from './db.ts';
import { DomainError } from '../errors.ts';
import { sql, type Statement } from './sql.ts';

const { postgresMigrationLockMs: lockMs, postgresMigrationPauseMs: pauseMs } = limits;
const boundLockWaits = sql<object>('bound_lock_waits', `select set_config('lock_timeout', '${lockMs}', true)`);
const boundStatement = sql<object>('bound_lock_statement', `select set_config('statement_timeout', '${lockMs}', true)`);
const unboundStatement = sql<object>('unbound_lock_statement', `select set_config('statement_timeout', '0', true)`);
const pause = sql<object>('pause_migration', `select pg_sleep(${pauseMs / 1000})`);
/** Another role is rejected by `alter table`, before it locks anything. */
const isOwner = sql<{ isOwner: boolean }>(
  'is_owner_of_tables',
  `select pg_has_role(relowner, 'usage') as "isOwner" from pg_class where oid = 'schema_migrations'::regclass`,
);

/** Bounds the lock waits of the following statements. `migrate` locks out other migrations before, and that wait has no bound. */
export const boundLockWaitsTx = async (tx: Transaction): Promise<void> => void (await tx.get(boundLockWaits));

/**
 * The pause before a repetition. It is a part of the transaction, which locks out other migrations: otherwise, several new
 * instances would repeat one after another, and running instances would rarely find the tables unlocked.
 */
export const pauseTx = async (tx: Transaction): Promise<void> => void (await tx.get(pause));

/**
 * Locks the tables that the statements change. Without this lock, a migration could change one table, such as add an index,
 * and then wait for another. Each repetition would lock the first table for the time of that work.
 * @returns the text of the statement for {@link lockTablesTx}; undefined if the statements only create tables
 */
export function lockOfChangedTables(statements: readonly string[]): string | undefined {
  const created = new Set(namesIn(statements, /^create table (\w+)/));
  const changed = new Set(namesIn(statements, /^(?:alter table|create (?:unique )?index \w+ on) (\w+)/));
  const names = [...changed.difference(created)];
  return names.length > 0 ? `lock table ${names.join(', ')} in access exclusive mode` : undefined;
}

/** The bound is for all tables together, because the first ones are locked while the statement waits for the others. */
export async function lockTablesTx(tx: Transaction, lockTables: Statement<never>): Promise<void> {
  if ((await tx.get(isOwner))?.isOwner !== true) return;
  await tx.get(boundStatement);
  await tx.run(lockTables);
  await tx.get(unboundStatement);
}

const namesIn = (statements: readonly string[], pattern: RegExp): string[] =>
  statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []);

/** A migration that repeats, because other transactions use its tables. */
export interface MigrationWait {
  readonly waitedSeconds: number;
  readonly secondsMax: number;
  /** For operators: what the migration waits for, and how long. */
  readonly detail: string;
}

const reportMsMin = 60_000;

/**
 * Without a report, a start would look as if it were stuck, for up to `postgresMigrationMsMax`.
 * @returns a function for the time of each repetition since the start: reports the first one, then at most one each minute
 */
export function waitReports(msMax: number, onWait: (wait: MigrationWait) => void): (waitedMs: number) => void {
  const secondsMax = msMax / 1000;
  const detail = `the migration waits until it can lock its tables, because a backup, a vacuum or another long transaction uses the database (pg_stat_activity lists it); the time limit is ${secondsMax} s`;
  let nextMs = 0;
  return (waitedMs) => {
    if (waitedMs < nextMs) return;
    nextMs = waitedMs + reportMsMin;
    onWait({ waitedSeconds: Math.floor(waitedMs / 1000), secondsMax, detail });
  };
}

/**
 * For a migration that could not lock its tables. Not a SchemaError: systemd does not restart a service that exits with the
 * status of a SchemaError.
 */
export const tablesInUse = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail:
      'a backup, a vacuum or another long transaction uses the database, so the migration could not lock its tables; the schema is unchanged. ' +
      'Wait until the transaction has ended (pg_stat_activity lists it), and start this program again',
    cause,
  });
