/** A lock of a file between processes. Node has no function for that; SQLite's locks end with the process that holds them. */
import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-connection.ts';

/**
 * Locks the file until the result is closed. Creates the file if it does not exist; it stays empty. SQLite keeps a file `<path>-journal`
 * beside it while the lock is held. A user who can read the file can lock it.
 * @returns undefined if another process holds the lock
 * @throws Error if the file cannot be used, or if it is not one of this user
 */
export function lockFile(path: string): { close(): void } | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // A link could lead to another database.
  if (found && !(found.isFile() && found.uid === (process.getuid?.() ?? found.uid)))
    throw new Error(`cannot lock ${path}: it is not a file of this user`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('begin exclusive');
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) return undefined;
    throw new Error(`cannot lock ${path}: ${(error as Error).message}`, { cause: error });
  }
}
