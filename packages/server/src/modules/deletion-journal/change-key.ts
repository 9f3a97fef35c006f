/** Prepares a folder of the deletion journal for a new version of the root key. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { digestOf, readEarlierFiles, writeEarlierFiles } from './earlier-files.ts';
import { JournalError, journalFiles, readJournalFile, readPosition } from './files.ts';
import type { JournalKeys } from './sealed-files.ts';

export interface PreparedJournal {
  /** Files that stay genuine. */
  readonly files: number;
  /** Messages about the others. */
  readonly warnings: readonly string[];
}

/**
 * Writes the list of files that stay genuine after the rotation. Without the rotation, the list has no effect.
 * @throws JournalError for a position of another installation, Error of the file system
 */
export async function prepareJournal(
  folder: string,
  current: JournalKeys,
  next: JournalKeys,
): Promise<PreparedJournal> {
  const position = await readPosition(folder, current);
  const earlier = await readEarlierFiles(folder, current);
  const digests = new Map<string, string>();
  const warnings: string[] = [];
  for (const path of await journalFiles(folder)) {
    try {
      const digest = digestOf(await readFile(path));
      const lines = readJournalFile(path, current, earlier);
      while (!(await lines.next()).done);
      digests.set(basename(path), digest);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      warnings.push(error.message);
    }
  }
  if (digests.size > 0 || position) await writeEarlierFiles(folder, next, { digests, position });
  return { files: digests.size, warnings };
}
