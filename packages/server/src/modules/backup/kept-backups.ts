/**
 * A folder with the newest backups of an installation. Backups are counted, so no jump of a clock deletes more of them. Only
 * files are deleted whose name and header are those of a backup of this installation, and old drafts with such a name.
 */
import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs, toInstant } from '../../foundation/clock.ts';
import { draftSuffix } from '../../foundation/complete-file.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { BackupError, type BackupHeader } from './format.ts';
import { readHeader } from './read-backup.ts';

export const keptBackupsMax = 10_000;
/** A command writes to its draft all the time, so an older draft is that of a killed command. */
const draftMsMax = hourMs;

export interface Pruned {
  /** Paths, oldest first. */
  readonly deleted: readonly string[];
  /** The number of backups of this installation in the folder. */
  readonly kept: number;
  /** A backup with a time in the future: a clock was wrong, so none was deleted. */
  readonly inFuture: string | undefined;
}

interface FoundBackup {
  readonly path: string;
  readonly stamp: string;
}

/** In the basic format of ISO 8601, which sorts by time. */
const stampOf = (instant: string): string => instant.replaceAll(/[-:]/g, '');

/** The first digits of what the header contains: installations can share a folder. */
const prefixOf = ({ check }: InstallationKeys): string => `keyreeve-${check.toString('hex').slice(0, 8)}-`;

/** A random end, because two commands can start in the same millisecond. */
const nameEnd = /^-[0-9a-f]{4}\.gz$/;

/** @param madeAt milliseconds since 1970, the time in the header */
export const newBackupName = (keys: InstallationKeys, madeAt: number): string =>
  `${prefixOf(keys)}${stampOf(toInstant(madeAt))}-${randomBytes(2).toString('hex')}.gz`;

/** @throws BackupError unless the folder exists: a new one would hide that a disk is not mounted */
export async function assertFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!found) throw new BackupError(`there is no folder ${path}; create or mount it`);
  if (!found.isDirectory()) throw new BackupError(`${path} is not a folder; with --keep, --to names a folder`);
}

/**
 * Deletes all but the newest backups of this installation, after `path` is complete. It never deletes `path` or a newer one, so
 * commands that run at the same time leave `keep` at least.
 * @param path a backup in the folder
 * @param keep 1 to {@link keptBackupsMax}
 * @param now milliseconds since 1970
 * @throws BackupError if a file cannot be read or deleted
 */
export async function pruneBackups(
  folder: string,
  { keys, path, keep, now }: { keys: InstallationKeys; path: string; keep: number; now: number },
): Promise<Pruned> {
  try {
    const files = (await readdir(folder, { withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name.startsWith(prefixOf(keys)),
    );
    await deleteDrafts(folder, files, (await stat(path)).mtimeMs - draftMsMax);
    const found = await findBackups(folder, files, keys);
    const inFuture = found.find(({ stamp }) => stamp > stampOf(toInstant(now)))?.path;
    if (inFuture !== undefined) return { deleted: [], kept: found.length, inFuture };
    const older = found.slice(0, Math.max(0, found.length - keep)).filter((one) => one.path !== path);
    for (const one of older) await rm(one.path, { force: true });
    await syncFolder(folder);
    return { deleted: older.map((one) => one.path), kept: found.length - older.length, inFuture };
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const message = `the backup ${path} is complete, but older ones could not be deleted: ${error.message}`;
    throw new BackupError(message, { cause: error });
  }
}

/** @returns oldest first */
async function findBackups(folder: string, files: readonly Dirent[], keys: InstallationKeys): Promise<FoundBackup[]> {
  const found: FoundBackup[] = [];
  for (const { name } of files.filter((entry) => entry.name.endsWith('.gz'))) {
    const path = join(folder, name);
    const stamp = await stampIn(path, keys);
    const start = prefixOf(keys) + stamp;
    if (stamp !== undefined && name.startsWith(start) && nameEnd.test(name.slice(start.length)))
      found.push({ path, stamp });
  }
  // Commands that run at the same time need the same order, also of backups with the same time.
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** @returns undefined for a file that is no backup of this installation, and one that another command has deleted */
async function stampIn(path: string, keys: InstallationKeys): Promise<string | undefined> {
  try {
    // A newer program can have made it, before a downgrade.
    const { installation, madeAt }: Partial<BackupHeader> = await readHeader(path, Number.POSITIVE_INFINITY);
    if (installation !== keys.check.toString('hex')) return;
    return madeAt === undefined ? undefined : stampOf(madeAt);
  } catch (error) {
    if (error instanceof BackupError || (error instanceof Error && 'code' in error && error.code === 'ENOENT')) return;
    throw error;
  }
}

/** @param modifiedBefore milliseconds of the folder's disk, whose clock can differ from that of this machine */
async function deleteDrafts(folder: string, files: readonly Dirent[], modifiedBefore: number): Promise<void> {
  for (const { name } of files.filter((entry) => draftSuffix.test(entry.name))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < modifiedBefore) await rm(path, { force: true });
  }
}
