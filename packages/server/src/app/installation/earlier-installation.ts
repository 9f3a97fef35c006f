/**
 * Detects an installation whose database is missing or empty, by its master key file and its deletion journal. Without this
 * check, a lost volume or a wrong path would start as a new installation, in which every credential is rejected.
 *
 * While a new installation is being created, a marker file exists beside its master key file. A start that was killed before
 * it had initialised the database leaves the marker, and the next start continues.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../configuration/config.ts';
import { syncFolder } from '../../foundation/database/sync-folder.ts';
import { journalFiles } from '../../modules/deletion-journal/files.ts';

export const masterKeyPath = (databasePath: string): string => `${databasePath}.master-key`;

const markerOf = (keyPath: string): string => `${keyPath}.new`;
const markerText = 'Keyreeve removes this file as soon as the database of this master key is initialised.\n';

/** Call it before creating the master key file, so that a new key always has its marker. */
export async function markAsNew(keyPath: string): Promise<void> {
  writeFileSync(markerOf(keyPath), markerText, { mode: 0o600, flush: true });
  await syncFolder(dirname(keyPath));
}

/** Call it when the database is initialised. */
export const markAsInitialised = (keyPath: string): void => rmSync(markerOf(keyPath), { force: true });

/**
 * @returns the paths of an installation that was initialised. Call it before the database is opened: another process that
 * starts at the same time may initialise the installation.
 */
export async function tracesOfEarlier({ database, masterKey, deletionJournal }: Config): Promise<readonly string[]> {
  const keyPath = database.kind === 'sqlite' && !masterKey ? masterKeyPath(database.path) : undefined;
  const isInitialised = keyPath !== undefined && existsSync(keyPath) && !existsSync(markerOf(keyPath));
  const hasDeletions = deletionJournal !== undefined && (await journalFiles(deletionJournal)).length > 0;
  return [...(isInitialised ? [keyPath] : []), ...(hasDeletions ? [deletionJournal] : [])];
}

/** @param where the database's path, or its URL without a password */
export function refusalBeside(traces: readonly string[], where: string): string {
  const found = traces.join(' and ');
  const away = traces.map((path) => `mv ${path} ${path}.old`).join(' && ');
  return (
    `the database ${where} is missing or empty, but ${found} belong${traces.length === 1 ? 's' : ''} to an installation that was in use. ` +
    `Put its database back, or run \`keyreeve restore --from <backup>\`. To create a new installation instead, run \`${away}\` first`
  );
}
