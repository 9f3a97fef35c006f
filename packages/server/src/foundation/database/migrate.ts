/**
 * Schema migrations. They are numbered, forward only, and unchanged after their release. All missing migrations run in one
 * transaction that also records them: several processes may start at once, and a failure leaves the schema as it was.
 *
 * A file's first line, `-- compatible-from: N`, states the lowest schema version that a program must support to work on
 * the result. Older programs are rejected; programs between N and the newest version are accepted.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { limits } from '@keyreeve/contract/limits';
import { monotonicMs, type Clock } from '../clock.ts';
import { madeBeforeFirstRelease } from '../made-before.ts';
import type { Db, Reader, Transaction } from './db.ts';
import {
  boundLockWaitsTx,
  lockOfChangedTables,
  lockTablesTx,
  pauseTx,
  tablesInUse,
  waitReports,
  type MigrationWait,
} from './migration-locks.ts';
import { sql, type Dialect } from './sql.ts';
import { isLockNotAvailable } from './unavailable.ts';
import { ownFile } from '../own-files.ts';

const ownFolder = ownFile('foundation/database/migrations/');
/** The first migration of databases from before release 1.0.0, whose schemas no release supports. */
const unreleasedName = '0001_foundation';
/** Processes that start at the same time wait for the first, without a bound. */
const isLong = { isLong: true };

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly compatibleFrom: number;
  readonly text: string;
  readonly checksum: string;
}

/** This program cannot use the database. The message states what to do. */
export class SchemaError extends Error {}

// One process at a time. On SQLite, the write transaction is the lock.
const lock = sql<{ locked: unknown }>('lock_schema_migrations', {
  sqlite: `select null as locked`,
  postgres: `select pg_advisory_xact_lock(7310865214406) as locked`,
});
const createLedger = sql(
  'create_schema_migrations',
  `create table if not exists schema_migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    compatible_from integer not null,
    applied_at bigint not null
  )`,
);
const ledgerExists = sql<{ found: number }>('schema_migrations_exists', {
  sqlite: `select 1 as found from sqlite_schema where type = 'table' and name = 'schema_migrations'`,
  postgres: `select 1 as found from pg_catalog.pg_tables where schemaname = current_schema() and tablename = 'schema_migrations'`,
});
interface Applied {
  version: number;
  name: string;
  checksum: string;
  compatibleFrom: number;
}
const listApplied = sql<Applied>(
  'list_schema_migrations',
  `select version, name, checksum, compatible_from as "compatibleFrom" from schema_migrations order by version`,
);
const recordMigration = sql(
  'record_schema_migration',
  `insert into schema_migrations (version, name, checksum, compatible_from, applied_at) values ($1, $2, $3, $4, $5)`,
);

export interface MigrateOptions {
  /** Milliseconds after which it does not repeat. */
  readonly msMax?: number;
  /** Called at the first repetition, then at most once each minute. */
  readonly onWait?: ((wait: MigrationWait) => void) | undefined;
  /** The folder of the migrations. Default: those of this program. */
  readonly folder?: URL | undefined;
}

/**
 * Applies the missing migrations. On PostgreSQL, it repeats while other transactions use the tables.
 * @returns their names
 * @throws SchemaError; DomainError `unavailable`, also if the tables stayed in use
 */
export async function migrate(
  db: Db,
  clock: Clock,
  { msMax = limits.postgresMigrationMsMax, onWait = () => undefined, folder }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = folder ? readMigrations(folder, db.dialect) : loadMigrations(db.dialect);
  const startedMs = monotonicMs();
  const reportWait = waitReports(msMax, onWait);
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      return await db.transaction((tx) => migrateTx(tx, { db, clock, migrations, isRepeated }), isLong);
    } catch (error) {
      if (!isLockNotAvailable(error)) throw error;
      const waitedMs = monotonicMs() - startedMs;
      if (waitedMs >= msMax) throw tablesInUse(error);
      reportWait(waitedMs);
    }
  }
}

interface Attempt {
  readonly db: Pick<Db, 'dialect'>;
  readonly clock: Clock;
  readonly migrations: readonly Migration[];
  readonly isRepeated: boolean;
}

async function migrateTx(tx: Transaction, { db, clock, migrations, isRepeated }: Attempt): Promise<string[]> {
  await tx.get(lock);
  if (db.dialect === 'postgres') await boundLockWaitsTx(tx);
  await tx.run(createLedger);
  const applied = await tx.all(listApplied);
  assertUsable(migrations, applied);
  const missing = migrations.slice(applied.length);
  if (db.dialect === 'postgres' && missing.length > 0) {
    if (isRepeated) await pauseTx(tx);
    const lockTables = lockOfChangedTables(missing.flatMap(({ text }) => statementsOf(text)));
    if (lockTables !== undefined) await lockTablesTx(tx, sql('lock_changed_tables', lockTables));
  }
  for (const migration of missing) {
    for (const [index, statement] of statementsOf(migration.text).entries())
      await tx.run(sql(`migrate_${migration.version}_${index}`, statement));
    const { version, name, checksum, compatibleFrom } = migration;
    await tx.run(recordMigration, [version, name, checksum, compatibleFrom, clock.now()]);
  }
  return missing.map((migration) => migration.name);
}

/**
 * @param folder of the migrations. Default: those of this program
 * @returns the number of missing migrations
 * @throws SchemaError if this program cannot use the database
 */
export async function countMissingMigrations(db: Reader & Pick<Db, 'dialect'>, folder?: URL): Promise<number> {
  const migrations = folder ? readMigrations(folder, db.dialect) : loadMigrations(db.dialect);
  const applied = (await db.get(ledgerExists)) ? await db.all(listApplied) : [];
  assertUsable(migrations, applied);
  return Math.max(0, migrations.length - applied.length);
}

export interface SchemaState {
  /** Of the newest migration. */
  readonly version: number;
  /** The lowest schema version that a program must support to use the database. */
  readonly compatibleFrom: number;
}

/** @throws DomainError `unavailable` for a database without a schema */
export async function findSchemaState(reader: Reader): Promise<SchemaState> {
  const applied = await reader.all(listApplied);
  return {
    version: Math.max(...applied.map(({ version }) => version)),
    compatibleFrom: Math.max(...applied.map(({ compatibleFrom }) => compatibleFrom)),
  };
}

/**
 * Whether a later version has migrated the database, so that it can have tables and columns that this program does not know.
 * @returns undefined, or the reason why its data cannot be copied or replaced completely
 */
export async function describeNewerSchema(db: Reader & Pick<Db, 'dialect'>): Promise<string | undefined> {
  const newest = newestSchema(db.dialect);
  const { version } = await findSchemaState(db);
  return version > newest
    ? `the database has schema ${version}, of which this program supports only the parts up to ${newest}`
    : undefined;
}

/** Whether the database has no schema yet. */
export const isEmptyDatabase = async (db: Db): Promise<boolean> => (await db.get(ledgerExists)) === undefined;

/** The schema version that this program creates. */
export const newestSchema = (dialect: Dialect): number => loadMigrations(dialect).length;

function assertUsable(migrations: readonly Migration[], applied: readonly Applied[]): void {
  const newest = migrations.length;
  if (applied[0]?.name === unreleasedName)
    throw new SchemaError(`the database ${madeBeforeFirstRelease}; create a new installation`);
  for (const [index, row] of applied.entries()) {
    const known = migrations[index];
    if (!known && row.compatibleFrom > newest) {
      throw new SchemaError(
        `the database has schema ${row.version}, which needs a newer program: this one supports up to ${newest}. Install the version that created it.`,
      );
    }
    if (known && known.checksum !== row.checksum) {
      throw new SchemaError(`migration ${known.name} differs from the one that was applied to this database`);
    }
  }
}

const loaded = new Map<Dialect, readonly Migration[]>();

function loadMigrations(dialect: Dialect): readonly Migration[] {
  const migrations = loaded.get(dialect) ?? readMigrations(ownFolder, dialect);
  loaded.set(dialect, migrations);
  return migrations;
}

function readMigrations(folder: URL, dialect: Dialect): Migration[] {
  const files = readdirSync(folder);
  const names = files.filter((file) => /^\d{4}(?:_\w+)?\.sql$/.test(file)).map((file) => file.slice(0, -'.sql'.length));
  return names.toSorted().map((name, index) => {
    const override = `${name}.${dialect}.sql`;
    const text = readFileSync(new URL(files.includes(override) ? override : `${name}.sql`, folder), 'utf8');
    const version = Number(name.slice(0, 4));
    const compatibleFrom = Number(/^-- compatible-from: (\d+)$/m.exec(text)?.[1]);
    if (version !== index + 1 || !compatibleFrom)
      throw new Error(`migration ${name} is misnumbered or lacks compatible-from`);
    return { version, name, compatibleFrom, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}

/**
 * Outside comments, a semicolon at the end of a line ends a statement, unless the next line is indented: the statements of a trigger
 * are indented, and so is its end.
 */
function statementsOf(text: string): string[] {
  return text
    .replaceAll(/--.*/g, '')
    .split(/;[ \t]*(?:\n(?![ \t])|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
