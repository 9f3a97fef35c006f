/** The size of the database. */
import type { Reader } from './db.ts';
import { sql } from './sql.ts';

const selectBytes = sql<{ bytes: number }>('select_database_bytes', {
  sqlite: 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
  postgres: 'select pg_database_size(current_database()) as bytes',
});

/** Reads no table. @returns bytes, without those of the write-ahead log */
export const databaseBytes = async (reader: Reader): Promise<number> => (await reader.get(selectBytes))?.bytes ?? 0;
