/** Makes and restores backups in tests. */
import { join } from 'node:path';
import { replayOnLive } from '../replay-on-live.ts';
import { restoreBackup, type Restored, type RestoreOptions } from '../restore.ts';
import { writeBackup } from '../write-backup.ts';
import type { InstallationKeys } from '../../../foundation/crypto/master-key.ts';
import { findInstallation } from '../../../foundation/database/installation.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { testRootKeys } from '../../../../test-kit/new-db.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';

export const later = now + 60_000;

/** A folder with the paths of a backup and of the folder of a deletion journal. */
export function newBackupFolder() {
  const temp = newTempFolder();
  return Object.assign(temp, { backup: join(temp.path, 'backup'), folder: join(temp.path, 'journal') });
}

export const backUp = (db: Db, path: string, by: InstallationKeys = keys) =>
  writeBackup({ db, keys: by, clock: new FakeClock(now + 1), version: '1.2.3', path });

/** As after opening the installation in the database. */
export const replacedCheckOf = async (db: Db): Promise<Uint8Array | undefined> =>
  (await findInstallation(db))?.masterKeyCheck;

export const restore = async (db: Db, path: string, more: Partial<RestoreOptions> = {}): Promise<Restored> =>
  restoreBackup(operator, {
    db,
    keys,
    rootKeys: testRootKeys,
    replacedCheck: await replacedCheckOf(db),
    clock: new FakeClock(later),
    path,
    journal: undefined,
    journalFolders: [],
    mayReplace: false,
    acceptsRevival: false,
    ...more,
  });

export const journalIn = (db: Db, folder: string, at = later): DeletionJournal =>
  new DeletionJournal({ folder, db, clock: new FakeClock(at), keys });

/** Repeats the changes of the journal in a database that is in use. @returns the number of changes by kind */
export const replay = async (db: Db, folder: string, at = later, isDryRun = false) => {
  const journal = journalIn(db, folder, at);
  const options = { db, keys, clock: new FakeClock(at), journal, journalFolders: [], isDryRun };
  return (await replayOnLive(operator, options)).replayed;
};
