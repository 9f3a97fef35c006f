/** `keyreeve restore`: restores a backup and applies later deletions again. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { rootKeysOfBackup } from '../modules/backup/backup-keys.ts';
import { BackupError } from '../modules/backup/format.ts';
import { restoreBackup, type Restored } from '../modules/backup/restore.ts';
import { systemClock } from '../foundation/clock.ts';
import { processEnvironment, readConfig } from '../app/configuration/config.ts';
import { deriveKeys } from '../foundation/crypto/master-key.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import { newestSchema } from '../foundation/database/migrate.ts';
import { findMasterKey, type FindRootKeys } from '../app/installation/installation.ts';
import { rowsTable } from './backup.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { describeReach, describeReplayed } from './journal.ts';
import { collect, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface RestoreCommandOptions extends OutputOptions {
  readonly from: string;
  readonly journal?: readonly string[];
  readonly replace?: boolean;
  readonly yes?: boolean;
  readonly acceptRevival?: boolean;
}

export function restoreCommand(): Command {
  return new CliCommand('restore')
    .group('recover')
    .lowPriority()
    .description('Restore a backup, apply later deletions again and end all sessions.')
    .requiredOption('--from <file>', 'backup of an SQLite or PostgreSQL installation')
    .option('--journal <folder>', 'further deletion journal (repeatable)', collect)
    .option('--replace', 'replace the data of the database, after confirmation')
    .option('--yes', yesHelp)
    .option('--accept-revival', 'restore without a deletion journal: keys deleted since the backup work again')
    .json()
    .examples(
      'keyreeve restore --from keyreeve-2026-11-22.gz',
      'keyreeve restore --from keyreeve-2026-11-22.gz --replace',
    )
    .references('docs/backup.md', 'database', 'masterKey', 'deletionJournal')
    .action(restore);
}

async function restore(options: RestoreCommandOptions): Promise<void> {
  const { from, journal: folders = [], replace: mayReplace = false, acceptRevival: acceptsRevival = false } = options;
  const config = readConfig(processEnvironment());
  // Without this check, a new database would get a new master key, which does not match any backup.
  findMasterKey(config);
  const path = resolve(from);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new BackupError(`${path} is a folder; name a backup in it`);
  if (mayReplace) await confirm(`All data in ${describeDatabase(config.database)} will be deleted.`, options);
  const schemaNewest = newestSchema(config.database.kind);
  let replacedCheck: Buffer | undefined;
  const fill: FindRootKeys = (masterKey, current) => {
    replacedCheck = current && deriveKeys(current.newest).check;
    return rootKeysOfBackup(path, schemaNewest, masterKey, current);
  };
  const restored = await withInstallation(
    { mayCreate: true, fill },
    ({ installation: { db, keys, rootKeys }, journal }) =>
      restoreBackup(operator, {
        db,
        keys,
        rootKeys,
        replacedCheck,
        clock: systemClock,
        path,
        journal,
        journalFolders: folders.map((folder) => resolve(folder)),
        mayReplace,
        acceptsRevival,
      }),
  );
  print(options, restored, describe(restored));
}

function describe(restored: Restored): string {
  const { madeAt, rows, journalCompleteUntil, journalHasChanges, warnings } = restored;
  return [
    rowsTable(rows),
    '',
    `Restored the backup of ${madeAt}. Replayed the deletion journal: ${describeReplayed(restored)}`,
    describeReach(journalCompleteUntil),
    ...warnings.map((warning) => `Not restored: ${warning}.`),
    ...(journalHasChanges
      ? []
      : [
          'The deletion journal lacks some changes of roles, passwords, email addresses, second factors and rights of keys since the backup. Their earlier values may be in force again.',
        ]),
    'Additions since the backup are lost: accounts, keys, new passwords, new email addresses and new second factors.',
    'All sessions have ended.',
  ].join('\n');
}
