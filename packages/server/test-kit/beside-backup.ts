/** Another transaction that has read the keys, as a backup does. */
import { sql } from '../src/foundation/database/sql.ts';
import type { TestDb } from './new-db.ts';

export const readKeys = sql<{ count: number }>('test_read_keys', 'select count(*) as count from api_keys');

/** Holds a snapshot that has read the keys until `use` has ended. */
export async function besideBackup<T>({ connect }: Pick<TestDb, 'connect'>, use: () => Promise<T>): Promise<T> {
  const backup = await connect();
  return backup.snapshot(async (reader) => {
    await reader.all(readKeys);
    return use();
  });
}
