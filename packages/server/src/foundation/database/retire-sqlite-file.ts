/** Retires an embedded database: under an exclusive lock, its content is copied elsewhere and the file is renamed. */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Db, Reader } from './db.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { syncFolder } from './sync-folder.ts';

/** Another process has the file open. */
export class FileInUseError extends Error {}

/**
 * @param copy reads the file. The lock lasts until the file has its new name, so no other process can write in between.
 * @param newPath the file's name after `copy` has succeeded
 * @throws FileInUseError
 */
export async function retireFile<T>(
  path: string,
  newPath: string,
  copy: (reader: Reader & Pick<Db, 'dialect'>) => Promise<T>,
): Promise<T> {
  const connection = new SqliteConnection(path, 'write');
  try {
    const value = await copy(lock(connection, path));
    renameSync(path, newPath);
    await syncFolder(dirname(path));
    return value;
  } finally {
    connection.close();
  }
}

function lock(connection: SqliteConnection, path: string): SqliteReader {
  try {
    return SqliteReader.ofLockedFile(connection);
  } catch (error) {
    throw new FileInUseError(`${path} is in use; stop the service and every other command first`, { cause: error });
  }
}
