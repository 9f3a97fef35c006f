/** Backing up and restoring, for the tests of both. */
import { restoreBackup, type Restored, type RestoreOptions } from '../../src/backup/restore.ts';
import { writeBackup } from '../../src/backup/write-backup.ts';
import type { InstallationKeys } from '../../src/crypto/master-key.ts';
import type { Db } from '../../src/db/db.ts';
import { DeletionJournal } from '../../src/deletion-journal/deletion-journal.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { keys, now, operator } from './rows.ts';

export const later = now + 60_000;

export const backUp = (db: Db, path: string, by: InstallationKeys = keys) =>
  writeBackup({ db, keys: by, clock: new FakeClock(now + 1), version: '1.2.3', path });

export const restore = (db: Db, path: string, more: Partial<RestoreOptions> = {}): Promise<Restored> =>
  restoreBackup(operator, {
    db,
    keys,
    clock: new FakeClock(later),
    path,
    journal: undefined,
    journalFolders: [],
    mayReplace: false,
    acceptsRevival: false,
    ...more,
  });

export const journalIn = (db: Db, folder: string): DeletionJournal =>
  new DeletionJournal({ folder, db, clock: new FakeClock(later), keys });
