/**
 * The files in the folder of the deletion journal that are replaced as a whole: lines of which the first is a header, under
 * the journal's key.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { giveFolderToOwnerOf, writeNewFor } from '../../foundation/file-owner.ts';
import { Chain } from './chain.ts';

/** The keys that the lines are verified with. */
export type JournalKeys = Pick<InstallationKeys, 'check' | 'deletionJournal'> & {
  readonly earlier: readonly Pick<InstallationKeys, 'check' | 'deletionJournal'>[];
};

export const journalVersion = 2;

export interface Header {
  readonly format: 'keyreeve-deletion-journal';
  /** 1: before release 1.0.0. */
  readonly version: typeof journalVersion;
  /** Identifies the installation, readable without its key. */
  readonly installation: string;
  /** The file's own name. A copy under another name is rejected. */
  readonly file: string;
}

/** The files contain all entries of the audit log up to an event. */
export interface Position {
  /** Id of the event. */
  readonly event: number;
  /**
   * Distinguishes the event from another with the same id, which follows when the database is put back to an older
   * state.
   */
  readonly mark: string;
  /** The files also contain all entries that were in the audit log at this time, in milliseconds. */
  readonly at: number;
  /**
   * The number of kinds of changes that the program knows which wrote the position. It has passed over entries of other
   * kinds.
   */
  readonly changeKinds: number;
  /**
   * Entries from before this time may be missing, in milliseconds: the retention had removed their audit events when the
   * files were completed. Absent: none.
   */
  readonly since?: number;
}

export const headerOf = ({ check }: JournalKeys, file: string): Header => ({
  format: 'keyreeve-deletion-journal',
  version: journalVersion,
  installation: check.toString('hex'),
  file,
});

export function isPosition(value: unknown): value is Position {
  const { event, mark, at, changeKinds, since } = (value ?? {}) as Partial<Position>;
  return (
    Number.isSafeInteger(event) &&
    Number.isSafeInteger(at) &&
    typeof mark === 'string' &&
    Number.isSafeInteger(changeKinds) &&
    (since === undefined || Number.isSafeInteger(since))
  );
}

/** Replaces a file of sealed lines, of which the first is its header. */
export async function writeSealed(
  folder: string,
  name: string,
  keys: JournalKeys,
  lines: readonly object[],
): Promise<void> {
  await makeFolder(folder);
  const chain = new Chain(keys.deletionJournal);
  const draft = join(folder, `${name}.${randomBytes(8).toString('hex')}`);
  const text = [headerOf(keys, name), ...lines].map((line) => chain.seal(line)).join('');
  await writeNewFor(folder, draft, text);
  await rename(draft, join(folder, name));
  await syncFolder(folder);
}

export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first !== undefined) await giveFolderToOwnerOf(dirname(first), folder);
}

export function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
