/** `keyreeve backup`: writes all data except short-lived rows to one file, and keeps the newest files of a folder. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { recordBackup } from '../foundation/database/installation.ts';
import { describeNewerSchema } from '../foundation/database/migrate.ts';
import { BackupError } from '../modules/backup/format.ts';
import {
  assertFolder,
  newBackupName,
  keptBackupsMax,
  pruneBackups,
  type Pruned,
} from '../modules/backup/kept-backups.ts';
import { writeBackup } from '../modules/backup/write-backup.ts';
import { hasLost } from '../modules/deletion-journal/lost-records.ts';
import { CliCommand } from './command.ts';
import { parseCount } from './count.ts';
import { describeFailure } from './failure.ts';
import { plural, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation, type CommandContext } from './session.ts';

const warning =
  'keyreeve: the database is older than its deletion journal: run `keyreeve journal replay`, then repeat the backup\n';

/** The backup is complete: a database that accepts no writes at the moment does not make it fail. */
const notRecorded = (reason: string): string =>
  `keyreeve: the backup is complete, but its time could not be recorded for the metrics: ${reason}\n`;

/** Only a warning: without usage, a backup has every key. */
const withoutUsage = (path: string, reason: string): string =>
  `keyreeve: the backup lacks usage and times of last use, because ${path} cannot be read: ${reason}\n`;

/** Only a warning: after a return to an earlier version, an incomplete backup is better than none. */
const incomplete = (reason: string): string =>
  `keyreeve: ${reason}: the backup lacks the others. Make backups with the version that migrated it\n`;

/** Older backups stay: the deletion journal may be complete up to them. */
const withoutJournal = (path: string, folder: string, reason: string): string =>
  `the deletion journal ${folder} is not complete. Until it is, restore rejects the new backup ${path}, and no older backup was deleted. ${reason}`;

const inFutureOf = (path: string): string =>
  `keyreeve: no older backup was deleted, because ${path} has a time in the future: check the clocks, then move that file to another folder\n`;

interface BackupCommandOptions extends OutputOptions {
  readonly to: string;
  readonly keep?: string;
}

export function backupCommand(): Command {
  return new CliCommand('backup')
    .group('operate')
    .lowPriority()
    .description('Write accounts, keys and the audit log to a file. The service can run meanwhile.')
    .requiredOption('--to <file>', 'file to create, compressed if its name ends in .gz; with --keep, a folder')
    .option('--keep <n>', 'create a file in the folder, verify it, then delete all but the newest <n> backups there')
    .json()
    .examples('keyreeve backup --to keyreeve-2026-11-22.gz', 'keyreeve backup --to /backups --keep 30')
    .references('docs/backup.md', 'database', 'masterKey', 'deletionJournal')
    .action(backup);
}

async function backup({ to, keep: keepText, ...options }: BackupCommandOptions): Promise<void> {
  const keep = parseCount('--keep', keepText, keptBackupsMax);
  const target = resolve(to);
  if (keep !== undefined) await assertFolder(target);
  else if (statSync(target, { throwIfNoEntry: false })?.isDirectory())
    throw new BackupError(`${target} is a folder; name a file, or add --keep`);
  const { path, rows, pruned } = await withInstallation({}, async (context) => {
    if (keep === undefined) return { ...(await writeFile(context, target)), pruned: undefined };
    const madeAt = systemClock.now();
    const { keys } = context.installation;
    const written = await writeFile(context, join(target, newBackupName(keys, madeAt)), madeAt);
    const kept = { keys, path: written.path, keep, clock: systemClock };
    return { ...written, pruned: await pruneBackups(target, kept) };
  });
  if (pruned?.inFuture !== undefined) process.stderr.write(inFutureOf(pruned.inFuture));
  print(
    options,
    { path, rows, ...(pruned ? { kept: pruned.kept, deleted: pruned.deleted } : {}) },
    [
      rowsTable(rows),
      '',
      `Wrote ${path}. A restore also needs the master key, which is not in the file.`,
      ...(pruned ? [describePruned(target, pruned)] : []),
    ].join('\n'),
  );
}

/** @param madeAt for a file in a folder: its time, in milliseconds since 1970 */
async function writeFile(
  { installation: { db, keys }, journal }: CommandContext,
  path: string,
  madeAt?: number,
): Promise<{ readonly path: string; readonly rows: Readonly<Record<string, number>> }> {
  const clock = madeAt === undefined ? systemClock : { now: () => madeAt };
  const reason = await describeNewerSchema(db);
  if (reason !== undefined) process.stderr.write(incomplete(reason));
  const onUsageMissing = ({ cause, message }: Error) =>
    void process.stderr.write(withoutUsage(db.usageFile?.path ?? '', cause instanceof Error ? cause.message : message));
  const rows = await writeBackup({ db, keys, clock, version, path, isReadBack: madeAt !== undefined, onUsageMissing });
  // Records in the deletion journal that it is complete beyond the time of the backup.
  const lost = await journal?.catchUp().catch((error: unknown) => {
    throw new BackupError(withoutJournal(path, journal.folder, describeFailure(error)));
  });
  if (lost && hasLost(lost)) process.stderr.write(warning);
  await recordBackup(db, systemClock.now()).catch(({ cause, message }: Error) =>
    process.stderr.write(notRecorded(cause instanceof Error ? cause.message : message)),
  );
  return { path, rows };
}

const describePruned = (folder: string, { kept, deleted }: Pruned): string =>
  `${folder} has ${plural(kept, 'backup')} of this installation. Deleted ${plural(deleted.length, 'older one')}.`;

export const rowsTable = (rows: Readonly<Record<string, number>>): string =>
  table(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
