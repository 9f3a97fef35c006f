/**
 * A folder with the newest backups of an installation. Backups are counted, so no jump of a clock deletes more of them. Only
 * files are counted and deleted whose name and header are those of a backup of this installation, and old drafts are deleted.
 *
 * The name ends in a MAC. A planted file therefore has no name that counts, unless a backup had it, and so takes the place of no
 * backup: a name of a deleted backup has an earlier time than the backups that stay.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs, toInstant, type Clock } from '../../foundation/clock.ts';
import { draftSuffix } from '../../foundation/complete-file.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { BackupError, type BackupHeader } from './format.ts';
import { readHeader } from './read-backup.ts';

export const keptBackupsMax = 10_000;
/**
 * An older draft belongs to a killed command. A command writes to its draft continuously, and then reads it back without a
 * write, at about 45 MB of rows a second on 2 cores: 12 hours are enough for more than 1 TB. Less than a day, so that a nightly
 * backup removes the draft of the previous night.
 */
const draftMsMax = 12 * hourMs;

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

const macBytes = 8;
/** Random digits, because two commands can start in the same millisecond, then the MAC of the name before it. */
const nameEnd = /-[0-9a-f]{4}-(?<mac>[0-9a-f]{16})\.gz$/;

/** Longer than the digests of whole backups, whose MACs have the same key. */
const macOf = ({ backup }: InstallationKeys, start: string): Buffer =>
  backup.mac(`name of a backup: ${start}`).subarray(0, macBytes);

/** @param madeAt milliseconds since 1970, the time in the header */
export function newBackupName(keys: InstallationKeys, madeAt: number): string {
  const start = `${prefixOf(keys)}${stampOf(toInstant(madeAt))}-${randomBytes(2).toString('hex')}`;
  return `${start}-${macOf(keys, start).toString('hex')}.gz`;
}

/** @returns the time in the name; undefined unless {@link newBackupName} has made the name with the same keys */
function stampIn(name: string, keys: InstallationKeys): string | undefined {
  const end = nameEnd.exec(name);
  const mac = end?.groups?.['mac'];
  if (!end || mac === undefined) return;
  const start = name.slice(0, -`-${mac}.gz`.length);
  if (!timingSafeEqual(Buffer.from(mac, 'hex'), macOf(keys, start))) return;
  return name.slice(prefixOf(keys).length, end.index);
}

/** @throws BackupError unless the folder exists: a new one would hide that a disk is not mounted */
export async function assertFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!found) throw new BackupError(`there is no folder ${path}; create or mount it`);
  if (!found.isDirectory()) throw new BackupError(`${path} is not a folder; with --keep, --to names a folder`);
}

/**
 * Deletes all but `path` and the `keep` newest backups of this installation, after `path` is complete. Commands that run at the
 * same time leave at least the `keep` newest backups, also if all of these are newer than `path`.
 * @param path a backup in the folder
 * @param keep 1 to {@link keptBackupsMax}
 * @throws BackupError if a file cannot be read or deleted
 */
export async function pruneBackups(
  folder: string,
  { keys, path, keep, clock }: { keys: InstallationKeys; path: string; keep: number; clock: Clock },
): Promise<Pruned> {
  try {
    const files = (await readdir(folder, { withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name.startsWith(prefixOf(keys)),
    );
    // The time of the folder, which the backup has just changed. A command with newer backups may have deleted the backup itself.
    await deleteDrafts(folder, files, (await stat(folder)).mtimeMs - draftMsMax);
    const found = await findBackups(folder, files, keys);
    // After the folder has been read: a command that runs at the same time may have completed a backup until then.
    const now = stampOf(toInstant(clock.now()));
    const inFuture = found.find(({ stamp }) => stamp > now)?.path;
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
  for (const { name } of files) {
    const path = join(folder, name);
    const stamp = stampIn(name, keys);
    if (stamp !== undefined && (await hasHeader(path, keys, stamp))) found.push({ path, stamp });
  }
  // Commands that run at the same time need the same order, also of backups with the same time.
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** @returns false for a file that is no backup of this installation and time, and for one that another command has deleted */
async function hasHeader(path: string, keys: InstallationKeys, stamp: string): Promise<boolean> {
  try {
    // A newer program can have made it, before a downgrade.
    const { installation, madeAt }: Partial<Record<keyof BackupHeader, unknown>> = await readHeader(
      { path },
      Number.POSITIVE_INFINITY,
    );
    return installation === keys.check.toString('hex') && typeof madeAt === 'string' && stampOf(madeAt) === stamp;
  } catch (error) {
    if (error instanceof BackupError || (error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      return false;
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
