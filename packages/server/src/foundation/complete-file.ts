/** Creates a file complete or not at all. It never replaces a file. */
import { randomBytes } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './database/sync-folder.ts';

/** The path is taken. */
export class FileExistsError extends Error {}

/** Matches the name of a draft. A killed process leaves its draft. */
export const draftSuffix = /\.[0-9a-f]{16}\.partial$/;

/**
 * Resolves when the file would survive a power failure.
 * @param write creates the file with the given path, and flushes it
 * @throws FileExistsError, the error of `write`, Error of the file system; no file is left then
 */
export async function createComplete(path: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}.partial`;
  try {
    await write(draft);
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new FileExistsError(path, { cause: error });
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
}
