/** Returns the free pages of an SQLite file to the disk. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Db } from './db.ts';
import { freePages, type FreePages } from './size.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { isUnavailable, orUnavailable } from './unavailable.ts';

/** The disk has too little space for the copy. */
export class NoSpaceError extends Error {}

export interface Compacted {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface CompactedDatabase extends Compacted {
  /** Messages about files that were not compacted. */
  readonly warnings: readonly string[];
}

/**
 * Compacts the file at `path`, which `db` has open, and then its second file. A failure of the second one is a warning.
 * @throws NoSpaceError, DomainError `unavailable`
 */
export async function compactDatabase(db: Db, path: string): Promise<CompactedDatabase> {
  const main = compactFile(path, await freePages(db));
  if (!db.usageFile) return { ...main, warnings: [] };
  try {
    const { bytesBefore, bytesAfter } = compactFile(db.usageFile.path, await freePages(db.usage));
    return { bytesBefore: main.bytesBefore + bytesBefore, bytesAfter: main.bytesAfter + bytesAfter, warnings: [] };
  } catch (error) {
    if (!isUnavailable(error) && !(error instanceof NoSpaceError)) throw error;
    const reason = isUnavailable(error) ? 'it is locked, or cannot be read or written' : error.message;
    return { ...main, warnings: [`${db.usageFile.path}: ${reason}`] };
  }
}

/**
 * Other processes can have the file open. Their reads continue; their writes wait, for at most 5 seconds. A failure leaves the file
 * as it was.
 * @throws NoSpaceError; DomainError `unavailable`, also if another process keeps the file locked
 */
export function compactFile(path: string, { bytes, freeBytes }: FreePages): Compacted {
  const folder = dirname(path);
  // SQLite writes the rows to a temporary file and to the write-ahead log (https://sqlite.org/lang_vacuum.html).
  const neededBytes = 2 * (bytes - freeBytes);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < neededBytes)
    throw new NoSpaceError(`the disk of ${folder} needs ${toMib(neededBytes)} MiB of free space for a moment`);
  return orUnavailable(() => {
    const connection = new SqliteConnection(path, 'write');
    try {
      // The default folder can be another disk, or memory.
      connection.exec(`pragma temp_store_directory = '${folder.replaceAll("'", "''")}'`);
      connection.exec('vacuum; pragma wal_checkpoint(truncate)');
      const after = connection.prepare('pragma page_count').get() as { readonly page_count: number };
      const size = connection.prepare('pragma page_size').get() as { readonly page_size: number };
      return { bytesBefore: bytes, bytesAfter: after.page_count * size.page_size };
    } finally {
      connection.close();
    }
  });
}

const toMib = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
