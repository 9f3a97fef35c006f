/** Whether bytes are in the files of a database: the tables, the indexes and, on PostgreSQL, the statistics. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';

const listPlaces = sql<{ path: string }>('test_database_files', {
  sqlite: `select file as path from pragma_database_list where name = 'main'`,
  postgres: `select current_setting('data_directory') || '/base/' || oid as path from pg_database where datname = current_database()`,
});
const checkpoint = sql('test_checkpoint', { sqlite: 'select null', postgres: 'checkpoint' });

const analyze = sql('test_analyze', { sqlite: 'select null', postgres: 'analyze' });

/** PostgreSQL copies values of all tables into its statistics. */
export const gatherStatistics = async (db: Db): Promise<void> => void (await db.all(analyze));

/** The search compares only the first bytes, because a longer value can be split over several pages. */
const bytesMax = 48;

export async function isInDatabaseFiles(db: Db, value: Uint8Array): Promise<boolean> {
  await db.all(checkpoint);
  const [place] = await db.all(listPlaces);
  if (!place) throw new Error('the database has no files');
  const { path } = place;
  const files = db.dialect === 'sqlite' ? [path, `${path}-wal`] : readdirSync(path).map((name) => join(path, name));
  const bytes = Buffer.from(value.subarray(0, bytesMax));
  return files.some((file) => contentsOf(file).includes(bytes));
}

/** PostgreSQL can delete the files of rewritten tables during the search. */
function contentsOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
