/** Retires an embedded database: under an exclusive lock, its content is copied elsewhere and its files are renamed. */
import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Db, Reader } from './db.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { syncFolder } from './sync-folder.ts';
import { findUsagePair, isPair, usagePathOf } from './usage-file.ts';

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
  copy: (reader: RetiredFile) => Promise<T>,
): Promise<T> {
  const connection = new SqliteConnection(path, 'write');
  const usagePath = usagePathOf(path);
  let usage: SqliteConnection | undefined;
  try {
    const main = lock(connection, path);
    usage = existsSync(usagePath) ? openOrNothing(usagePath) : undefined;
    const value = await copy(Object.assign(main, { usage: usage && (await usageOf(main, usage)) }));
    renameSync(path, newPath);
    // The database has its new name, so a file that keeps the earlier one belongs to none. A renamed link keeps its target.
    if (existsSync(usagePath)) renameSync(usagePath, usagePathOf(newPath));
    await syncFolder(dirname(path));
    return value;
  } finally {
    usage?.close();
    connection.close();
  }
}

export interface RetiredFile extends Reader, Pick<Db, 'dialect'> {
  /** The second file; undefined if it does not belong to the first one or cannot be read. */
  readonly usage: Reader | undefined;
}

function openOrNothing(path: string): SqliteConnection | undefined {
  try {
    return new SqliteConnection(path, 'write');
  } catch {
    return undefined;
  }
}

/** Every process that has the second file open has the first one open as well, so the lock of the first one protects both. */
async function usageOf(main: Reader, connection: SqliteConnection): Promise<Reader | undefined> {
  try {
    const reader = SqliteReader.ofLockedFile(connection);
    return isPair(await findUsagePair(reader, 'file'), await findUsagePair(main, 'main')) ? reader : undefined;
  } catch {
    return undefined;
  }
}

function lock(connection: SqliteConnection, path: string): SqliteReader {
  try {
    return SqliteReader.ofLockedFile(connection);
  } catch (error) {
    throw new FileInUseError(`${path} is in use; stop the service and every other command first`, { cause: error });
  }
}
