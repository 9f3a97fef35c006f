/** Whether the disks of the embedded database and of the deletion journal respond, accept writes and have space. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../../modules/overview/attention.ts';
import type { Config } from '../configuration/config.ts';

/** The database needs some for its write-ahead log and for checkpoints. */
export const freeMibMin = 100;
const mib = 2 ** 20;
/** A network file system whose server is down never responds. A busy process reads the response of a working disk late. */
const responseMsMax = 3_000;

type DiskConfig = Pick<Config, 'database' | 'deletionJournal'>;
type Content = 'database' | 'deletion_journal';

export interface DiskState {
  readonly device: number;
  readonly isReadOnly: boolean;
  /** What a user without privileges can use. */
  readonly freeBytes: number;
}

export interface Disk {
  readonly content: Content;
  readonly folder: string;
  /** Undefined if the disk does not respond. */
  readonly state: DiskState | undefined;
}

/** Reads the state of a disk. @throws Error of the file system */
export type ReadDisk = (folder: string) => Promise<DiskState>;

/** By folder. A call that hangs occupies a thread of the process, so each folder has one call at a time. */
const callsInProgress = new Map<string, Promise<DiskState>>();

/** @returns nothing for a disk without a problem, and for a folder that does not exist yet */
export const checkDisks = async (config: DiskConfig, read?: ReadDisk): Promise<Finding[]> =>
  (await readDisks(config, read)).flatMap((disk) => checkDisk(disk) ?? []);

/** Whether there are disks to read. */
export const hasDisks = (config: DiskConfig): boolean => foldersOf(config).length > 0;

/**
 * One for each device, and one for each folder whose disk does not respond. Without folders that do not exist yet or cannot be
 * read.
 */
export async function readDisks(config: DiskConfig, read: ReadDisk = readState): Promise<Disk[]> {
  const disks: Disk[] = [];
  for (const disk of await Promise.all(foldersOf(config).map((one) => readDisk(one, read)))) {
    if (disk && (!disk.state || disks.every(({ state }) => state?.device !== disk.state?.device))) disks.push(disk);
  }
  return disks;
}

function foldersOf({ database, deletionJournal }: DiskConfig): Omit<Disk, 'state'>[] {
  const folders: Omit<Disk, 'state'>[] = [];
  if (database.kind === 'sqlite') folders.push({ content: 'database', folder: dirname(database.path) });
  if (deletionJournal !== undefined) folders.push({ content: 'deletion_journal', folder: deletionJournal });
  return folders;
}

/** @returns undefined for a folder that does not exist or cannot be read */
async function readDisk(disk: Omit<Disk, 'state'>, read: ReadDisk): Promise<Disk | undefined> {
  const { folder } = disk;
  const call = callsInProgress.get(folder) ?? read(folder).finally(() => callsInProgress.delete(folder));
  callsInProgress.set(folder, call);
  try {
    return { ...disk, state: await Promise.race([call, sleep(responseMsMax, undefined, { ref: false })]) };
  } catch {
    return undefined;
  }
}

const readState: ReadDisk = async (folder) => {
  const { dev: device } = await stat(folder);
  const { bavail, bsize } = await statfs(folder);
  const refusal = await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => error.code);
  return { device, freeBytes: bavail * bsize, isReadOnly: refusal === 'EROFS' };
};

function checkDisk({ folder, state: found }: Disk): Finding | undefined {
  const failed = (detail: string): Finding => ({ name: 'disk', state: 'failed', detail });
  if (!found)
    return failed(`the disk of ${folder} does not respond. Check its mount and, for a network file system, its server`);
  if (found.isReadOnly)
    return failed(
      `the disk of ${folder} is read-only, so no change can be committed. Read the kernel log, and mount it writable`,
    );
  const freeMib = Math.floor(found.freeBytes / mib);
  if (freeMib >= freeMibMin) return undefined;
  return { name: 'disk', state: 'warning', detail: `the disk of ${folder} has only ${freeMib} MiB free` };
}
