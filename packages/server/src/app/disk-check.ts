/** Whether the disks of the embedded database and of the deletion journal accept writes and have space. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../modules/overview/attention.ts';
import type { Config } from './config.ts';

/** The database needs some for its write-ahead log and for checkpoints. */
const freeMibMin = 100;
const mib = 2 ** 20;

/** @returns nothing for a disk without a problem, and for a folder that does not exist yet */
export function checkDisks({ database, deletionJournal }: Pick<Config, 'database' | 'deletionJournal'>): Finding[] {
  const folders = [database.kind === 'sqlite' ? dirname(database.path) : undefined, deletionJournal];
  const existing = folders.filter((folder) => folder !== undefined && existsSync(folder)) as string[];
  const ofDevices = new Map(existing.toReversed().map((folder) => [statSync(folder).dev, folder]));
  return [...ofDevices.values()].flatMap((folder) => checkDisk(folder) ?? []);
}

function checkDisk(folder: string): Finding | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const freeMib = Math.floor((bavail * bsize) / mib);
    accessSync(folder, constants.W_OK);
    if (freeMib >= freeMibMin) return undefined;
    return { name: 'disk', state: 'warning', detail: `the disk of ${folder} has only ${freeMib} MiB free` };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EROFS')) return undefined;
    const detail = `the disk of ${folder} is read-only, so no change can be committed. Read the kernel log, and mount it writable`;
    return { name: 'disk', state: 'failed', detail };
  }
}
