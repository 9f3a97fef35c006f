/** Work on an embedded database that nobody else may have open meanwhile: it is about to be given up. */
import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Db, Reader } from './db.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { syncFolder } from './sync-folder.ts';

/** Another program has the file open. */
export class FileInUseError extends Error {}

/**
 * @param work is given reads of the file, which is locked until it ends
 * @param newPath the file's name once `work` has succeeded. It has it before anybody else can open it
 * @throws FileInUseError
 */
export async function giveUpFile<T>(
  path: string,
  newPath: string,
  work: (reader: Reader & Pick<Db, 'dialect'>) => Promise<T>,
): Promise<T> {
  const connection = new SqliteConnection(path, 'write');
  try {
    const value = await work(lock(connection, path));
    renameSync(path, newPath);
    await syncFolder(dirname(path));
    return value;
  } finally {
    connection.close();
  }
}

function lock(connection: SqliteConnection, path: string): SqliteReader {
  try {
    return SqliteReader.ofFileAlone(connection);
  } catch (error) {
    throw new FileInUseError(`${path} is in use; stop the service and every other command first`, { cause: error });
  }
}
