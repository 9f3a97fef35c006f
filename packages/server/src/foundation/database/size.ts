/** The size of the database, and what removed rows have left free in it. */
import type { Reader } from './db.ts';
import { sql } from './sql.ts';

const selectBytes = sql<{ bytes: number }>('select_database_bytes', {
  sqlite: 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
  postgres: 'select pg_database_size(current_database()) as bytes',
});

/** Reads no table. @returns bytes, without those of the write-ahead log */
export const databaseBytes = async (reader: Reader): Promise<number> => (await reader.get(selectBytes))?.bytes ?? 0;

export interface FreePages {
  /** Of the file, without the write-ahead log. */
  readonly bytes: number;
  /** In pages that have no rows. New rows use them; the file does not become smaller. */
  readonly freeBytes: number;
}

const selectFreePages = sql<FreePages>('select_free_pages', {
  sqlite: `select page_count * page_size as bytes, freelist_count * page_size as "freeBytes"
    from pragma_page_count, pragma_page_size, pragma_freelist_count`,
  postgres: 'select pg_database_size(current_database()) as bytes, 0::bigint as "freeBytes"',
});

/** Reads no table. Only SQLite has free pages: PostgreSQL uses the space of removed rows after a vacuum. */
export const freePages = async (reader: Reader): Promise<FreePages> =>
  (await reader.get(selectFreePages)) ?? { bytes: 0, freeBytes: 0 };
