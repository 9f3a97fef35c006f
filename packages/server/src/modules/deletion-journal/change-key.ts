/** Prepares a folder of the deletion journal for a new version of the root key. */
import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { digestOf, readEarlierFiles, writeEarlierFiles } from './earlier-files.ts';
import { isOfAnother, JournalError, journalFiles, readJournalFile, readPosition } from './files.ts';
import type { JournalKeys } from './sealed-files.ts';

export interface PreparedJournal {
  /** Files that stay genuine. */
  readonly files: number;
  /** Messages about the others. */
  readonly warnings: readonly string[];
  /** The path of the list; undefined for an empty folder. */
  readonly list: string | undefined;
}

/**
 * Whether the folder contains a journal of this installation. A damaged file counts as one: otherwise, an attacker could prevent a rotation.
 * @throws JournalError for a position of another installation, Error of the file system
 */
export async function isJournal(folder: string, keys: JournalKeys): Promise<boolean> {
  if (await readPosition(folder, keys)) return true;
  for (const path of await journalFiles(folder)) if (!(await isOfAnother(path, keys))) return true;
  return false;
}

/**
 * Prepares the folders, then rotates. A failure removes the lists, unless the rotation may have been committed: without its list,
 * a journal from before a rotation is untrustworthy.
 * @throws the error of `rotate`, and those of {@link prepareJournal}
 */
export async function withPreparedJournals<T>(
  folders: readonly string[],
  current: JournalKeys,
  next: JournalKeys,
  rotate: () => Promise<T>,
): Promise<{ readonly journals: readonly PreparedJournal[]; readonly rotated: T }> {
  const journals: PreparedJournal[] = [];
  try {
    for (const folder of folders) journals.push(await prepareJournal(folder, current, next));
    return { journals, rotated: await rotate() };
  } catch (error) {
    const lists = isOutcomeUnknown(error) ? [] : journals.flatMap(({ list }) => list ?? []);
    // A list that cannot be removed has no effect.
    await Promise.allSettled(lists.map((list) => rm(list, { force: true })));
    throw error;
  }
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
  const isEmpty = digests.size === 0 && !position;
  const list = isEmpty ? undefined : await writeEarlierFiles(folder, next, { digests, position });
  return { files: digests.size, warnings, list };
}
