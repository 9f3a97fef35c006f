/** `keyreeve backup`: writes all data except short-lived rows to one file. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { recordBackup } from '../foundation/database/installation.ts';
import { writeBackup } from '../modules/backup/write-backup.ts';
import { hasLost } from '../modules/deletion-journal/lost-records.ts';
import { CliCommand } from './command.ts';
import { print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

const warning =
  'keyreeve: the database is older than its deletion journal: run `keyreeve journal replay`, then repeat the backup\n';

/** The backup is complete: a database that accepts no writes at the moment does not make it fail. */
const notRecorded = (reason: string): string =>
  `keyreeve: the backup is complete, but its time could not be recorded for the metrics: ${reason}\n`;

interface BackupCommandOptions extends OutputOptions {
  readonly to: string;
}

export function backupCommand(): Command {
  return new CliCommand('backup')
    .lowPriority()
    .description('Write accounts, keys and the audit log to a file. The service can run meanwhile.')
    .requiredOption('--to <file>', 'file to create; compressed if its name ends in .gz')
    .json()
    .examples('keyreeve backup --to keyreeve-2026-11-22.gz')
    .references('docs/backup.md', 'database', 'masterKey', 'deletionJournal')
    .action(backup);
}

async function backup({ to, ...options }: BackupCommandOptions): Promise<void> {
  const path = resolve(to);
  const rows = await withInstallation({}, async ({ installation: { db, keys }, journal }) => {
    const counts = await writeBackup({ db, keys, clock: systemClock, version, path });
    // Records in the deletion journal that it is complete beyond the time of the backup.
    const lost = await journal?.catchUp();
    if (lost && hasLost(lost)) process.stderr.write(warning);
    await recordBackup(db, systemClock.now()).catch(({ cause, message }: Error) =>
      process.stderr.write(notRecorded(cause instanceof Error ? cause.message : message)),
    );
    return counts;
  });
  print(
    options,
    { path, rows },
    `${rowsTable(rows)}\n\nWrote ${path}. A restore also needs the master key, which is not in the file.`,
  );
}

export const rowsTable = (rows: Readonly<Record<string, number>>): string =>
  table(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
