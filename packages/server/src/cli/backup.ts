/** `keyreeve backup`: everything but what passes by itself, in one file. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { writeBackup } from '../modules/backup/write-backup.ts';
import { hasLost } from '../modules/deletion-journal/lost-records.ts';
import { jsonHelp, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

const warning =
  'keyreeve: the database is older than its journal of deletions: run `keyreeve journal replay`, then back it up again\n';

interface BackupCommandOptions extends OutputOptions {
  readonly to: string;
}

export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'Write all accounts, keys, signing keys and the audit trail, as of now, into a file. The service may run.',
    )
    .requiredOption('--to <file>', 'a file that doesn’t exist; compressed when its name ends in .gz')
    .option('--json', jsonHelp)
    .action(backup);
}

async function backup({ to, ...options }: BackupCommandOptions): Promise<void> {
  const path = resolve(to);
  const rows = await withInstallation({}, async ({ installation: { db, keys }, journal }) => {
    const counts = await writeBackup({ db, keys, clock: systemClock, version, path });
    // So that the journal is known to reach beyond the backup.
    const forgotten = await journal?.catchUp();
    if (forgotten && hasLost(forgotten)) process.stderr.write(warning);
    return counts;
  });
  print(
    options,
    { path, rows },
    `${rowsTable(rows)}\n\nWrote ${path}. It is of use only with the master key, which is not in it.`,
  );
}

export const rowsTable = (rows: Readonly<Record<string, number>>): string =>
  table(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
