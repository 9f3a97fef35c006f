/** `keyreeve restore`: a backup into the configured database, without reviving what was deleted since. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { restoreBackup, type Restored } from '../modules/backup/restore.ts';
import { systemClock } from '../foundation/clock.ts';
import { processEnvironment, readConfig } from '../app/config.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import { findMasterKey } from '../app/installation.ts';
import { rowsTable } from './backup.ts';
import { confirm } from './confirm.ts';
import { describeReach, describeReplayed } from './journal.ts';
import { collect, jsonHelp, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface RestoreCommandOptions extends OutputOptions {
  readonly from: string;
  readonly journal?: readonly string[];
  readonly replace?: boolean;
  readonly yes?: boolean;
  readonly acceptRevival?: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'Read a backup into the configured database, delete again what was deleted since, and end all sessions.',
    )
    .requiredOption('--from <file>', 'what `keyreeve backup` has written, on either kind of database')
    .option('--journal <folder>', 'a further journal of deletions; may be given several times', collect)
    .option('--replace', 'give up what the database holds; asks before')
    .option('--yes', 'don’t ask')
    .option('--accept-revival', 'go on without a journal: keys that were deleted since the backup work again')
    .option('--json', jsonHelp)
    .action(restore);
}

async function restore(options: RestoreCommandOptions): Promise<void> {
  const { from, journal: folders = [], replace: mayReplace = false, acceptRevival: acceptsRevival = false } = options;
  const config = readConfig(processEnvironment());
  // Before a database is made: a new key would fit no backup.
  findMasterKey(config);
  if (mayReplace) await confirm(`All that ${describeDatabase(config.database)} holds is given up.`, options);
  const restored = await withInstallation(
    { mayCreate: true, isToBeFilled: true },
    ({ installation: { db, keys }, journal }) =>
      restoreBackup(operator, {
        db,
        keys,
        clock: systemClock,
        path: resolve(from),
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
    `Restored the backup of ${madeAt}. From the journal of deletions: ${describeReplayed(restored)}`,
    describeReach(journalCompleteUntil),
    ...warnings.map((warning) => `Left out: ${warning}.`),
    ...(journalHasChanges
      ? []
      : [
          'The journal does not hold all changes of roles, passwords, email addresses and second factors since the backup: those may be the old ones again.',
        ]),
    'What was added since the backup is lost: accounts, keys, new passwords, new email addresses and new second factors.',
    'All sessions have ended.',
  ].join('\n');
}
