/** Whether the disks of the embedded database and of the deletion journal accept writes and have space. */
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../modules/overview/attention.ts';
import type { Config } from './config.ts';

/** The database needs some for its write-ahead log and for checkpoints. */
export const freeMibMin = 100;
const mib = 2 ** 20;

/** @returns nothing for a disk without a problem, and for a folder that does not exist yet */
export const checkDisks = (config: DiskConfig): Finding[] =>
  disksOf(config).flatMap(({ folder }) => checkDisk(folder) ?? []);

type DiskConfig = Pick<Config, 'database' | 'deletionJournal'>;

interface Disk {
  readonly content: 'database' | 'deletion_journal';
  readonly folder: string;
}

/** One for each device. Without folders that do not exist yet. */
export function disksOf({ database, deletionJournal }: DiskConfig): Disk[] {
  const disks = new Map<number, Disk>();
  const add = (content: Disk['content'], folder: string | undefined): void => {
    const device = folder === undefined ? undefined : statSync(folder, { throwIfNoEntry: false })?.dev;
    if (folder !== undefined && device !== undefined && !disks.has(device)) disks.set(device, { content, folder });
  };
  add('database', database.kind === 'sqlite' ? dirname(database.path) : undefined);
  add('deletion_journal', deletionJournal);
  return [...disks.values()];
}

/** What a user without privileges can use. @throws Error of the file system */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function checkDisk(folder: string): Finding | undefined {
  try {
    accessSync(folder, constants.W_OK);
    const freeMib = Math.floor(freeBytes(folder) / mib);
    if (freeMib >= freeMibMin) return undefined;
    return { name: 'disk', state: 'warning', detail: `the disk of ${folder} has only ${freeMib} MiB free` };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EROFS')) return undefined;
    const detail = `the disk of ${folder} is read-only, so no change can be committed. Read the kernel log, and mount it writable`;
    return { name: 'disk', state: 'failed', detail };
  }
}
