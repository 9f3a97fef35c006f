/** A PostgreSQL database with the schema of release 0.1.0, as before an upgrade. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { sql } from '../src/foundation/database/sql.ts';
import { emptyDatabases, type TestDb } from './new-db.ts';

const folder = new URL('../src/foundation/database/migrations/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.split('.').length === 2)
  .map((file) => file.slice(0, -'.sql'.length))
  .toSorted();
const earlier = names.slice(0, 2);
/** The migrations that the database lacks. */
export const missingMigrations: readonly string[] = names.slice(2);

const createLedger = `create table schema_migrations (version integer primary key, name text not null, checksum text not null,
   compatible_from integer not null, applied_at bigint not null)`;

/** The statements of a migration, and the one that records it. */
function statementsOf(name: string, index: number): string[] {
  const own = new URL(`${name}.postgres.sql`, folder);
  const text = readFileSync(existsSync(own) ? own : new URL(`${name}.sql`, folder), 'utf8');
  const checksum = createHash('sha256').update(text).digest('hex');
  const record = `insert into schema_migrations values (${index + 1}, '${name}', '${checksum}', 1, 1)`;
  return [...text.replaceAll(/--.*$/gm, '').split(';'), record].filter((statement) => statement.trim() !== '');
}

const texts = [createLedger, ...earlier.flatMap(statementsOf)];
const schema = texts.map((text) => ({ statement: sql('test_earlier', text) }));

export async function newEarlierDb(): Promise<TestDb> {
  const opened = await emptyDatabases['postgres']!();
  await opened.db.transaction(async (tx) => {
    for (const { statement } of schema) await tx.run(statement);
  });
  return opened;
}

export const readKeys = sql<{ count: number }>('test_read_keys', 'select count(*) as count from api_keys');

/** Holds a snapshot that has read the keys until `use` has ended. */
export async function besideBackup<T>({ connect }: Pick<TestDb, 'connect'>, use: () => Promise<T>): Promise<T> {
  const backup = await connect();
  return backup.snapshot(async (reader) => {
    await reader.all(readKeys);
    return use();
  });
}
