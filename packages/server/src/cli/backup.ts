/** `keyreeve backup`: writes all data except short-lived rows to one file or stream, and keeps the newest files of a folder. */
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { recordBackup } from '../foundation/database/installation.ts';
import { describeNewerSchema } from '../foundation/database/migrate.ts';
import { encryptFor } from '../modules/backup/encryption.ts';
import { BackupError, type ChangeBytes } from '../modules/backup/format.ts';
import {
  assertFolder,
  newBackupName,
  keptBackupsMax,
  pruneBackups,
  type Pruned,
} from '../modules/backup/kept-backups.ts';
import { openUpload } from '../modules/backup/object-storage.ts';
import { sendBackup, writeBackup, type BackupOptions } from '../modules/backup/write-backup.ts';
import { hasLost } from '../modules/deletion-journal/lost-records.ts';
import { objectStorageNames, objectStorageOf } from '../app/configuration/backup-config.ts';
import { assertNoFolder, assertNoTerminal, targetOf, toOutput, type Target } from './backup-target.ts';
import { CliCommand } from './command.ts';
import { parseCount } from './count.ts';
import { describeFailure, UsageError } from './failure.ts';
import { collect, plural, print, table, version, type OutputOptions } from './output.ts';
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
  readonly recipient?: readonly string[];
}

export function backupCommand(): Command {
  return new CliCommand('backup')
    .group('operate')
    .lowPriority()
    .description('Write accounts, keys and the audit log to a file. The service can run meanwhile.')
    .requiredOption(
      '--to <file>',
      'file to create, compressed if its name ends in .gz or .gz.age; with --keep, a folder; - for standard output; s3://bucket/folder for S3-compatible storage',
    )
    .option('--keep <n>', 'create a file in the folder, verify it, then delete all but the newest <n> backups there')
    .option('--recipient <key>', 'encrypt for this public key of age, age1… (repeatable)', collect)
    .json()
    .examples(
      'keyreeve backup --to keyreeve-2026-11-22.gz',
      'keyreeve backup --to /backups --keep 30',
      'keyreeve backup --to s3://backups/keyreeve --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
    )
    .references(
      'docs/backup.md',
      'database',
      'masterKey',
      'deletionJournal',
      'storageEndpoint',
      'storageRegion',
      'storageAccessKeyId',
      'storageSecretAccessKey',
    )
    .action(backup);
}

interface Made {
  /** Undefined: standard output. */
  readonly path: string | undefined;
  readonly rows: Readonly<Record<string, number>>;
  readonly pruned?: Pruned;
}

async function backup({ to, keep: keepText, recipient = [], ...options }: BackupCommandOptions): Promise<void> {
  const keep = parseCount('--keep', keepText, keptBackupsMax);
  const target = targetOf(to);
  if (keep !== undefined && (target.kind !== 'file' || recipient.length > 0))
    throw new UsageError('--keep needs a folder and no --recipient: it reads backups back');
  if (target.kind === 'file' && keep === undefined && target.path.endsWith('.age') && recipient.length === 0)
    throw new UsageError('a name that ends in .age is that of an encrypted backup; add --recipient');
  if (target.kind === 'output' && options.json) throw new UsageError('--json cannot be used with --to -');
  if (target.kind === 'output') assertNoTerminal();
  if (target.kind === 'file') await (keep === undefined ? assertNoFolder(target.path) : assertFolder(target.path));
  const encrypt = recipient.length > 0 ? await encryptFor(recipient) : undefined;
  const made = await withInstallation({}, (context) => makeBackup(context, { target, keep, encrypt }));
  const { path, rows, pruned } = made;
  if (pruned?.inFuture !== undefined) process.stderr.write(inFutureOf(pruned.inFuture));
  if (path === undefined) return;
  print(
    options,
    { path, rows, ...(pruned ? { kept: pruned.kept, deleted: pruned.deleted } : {}) },
    [
      rowsTable(rows),
      '',
      `Wrote ${path}. A restore also needs the master key, which is not in the file.`,
      ...(pruned ? [describePruned(dirname(path), pruned)] : []),
    ].join('\n'),
  );
}

interface Plan {
  readonly target: Target;
  readonly keep: number | undefined;
  readonly encrypt: ChangeBytes | undefined;
}

async function makeBackup(context: CommandContext, { target, keep, encrypt }: Plan): Promise<Made> {
  const { config, installation } = context;
  const { keys } = installation;
  const madeAt = systemClock.now();
  const options = { ...(await optionsOf(context)), clock: { now: () => madeAt }, encrypt };
  if (target.kind === 'output') {
    const rows = await sendBackup(options, toOutput);
    await finish(context, 'written to standard output');
    return { path: undefined, rows };
  }
  if (target.kind === 'storage') {
    const storage = objectStorageOf(config);
    if (!storage) throw new BackupError(`for --to s3://…, ${objectStorageNames} must be set`);
    const name = `${target.prefix}${newBackupName(keys, madeAt)}${encrypt ? '.age' : ''}`;
    const path = `s3://${target.bucket}/${name}`;
    const rows = await sendBackup(options, await openUpload({ storage, bucket: target.bucket, name }));
    await finish(context, path);
    return { path, rows };
  }
  const path = keep === undefined ? target.path : join(target.path, newBackupName(keys, madeAt));
  const rows = await writeBackup({ ...options, path, isReadBack: keep !== undefined });
  await finish(context, path);
  if (keep === undefined) return { path, rows };
  return { path, rows, pruned: await pruneBackups(target.path, { keys, path, keep, clock: systemClock }) };
}

async function optionsOf({ installation: { db, keys } }: CommandContext): Promise<Omit<BackupOptions, 'clock'>> {
  const reason = await describeNewerSchema(db);
  if (reason !== undefined) process.stderr.write(incomplete(reason));
  const onUsageMissing = ({ cause, message }: Error) =>
    void process.stderr.write(withoutUsage(db.usageFile?.path ?? '', cause instanceof Error ? cause.message : message));
  return { db, keys, version, onUsageMissing };
}

/** Records that the backup is complete. */
async function finish({ installation: { db }, journal }: CommandContext, path: string): Promise<void> {
  // Records in the deletion journal that it is complete beyond the time of the backup.
  const lost = await journal?.catchUp().catch((error: unknown) => {
    throw new BackupError(withoutJournal(path, journal.folder, describeFailure(error)));
  });
  if (lost && hasLost(lost)) process.stderr.write(warning);
  await recordBackup(db, systemClock.now()).catch(({ cause, message }: Error) =>
    process.stderr.write(notRecorded(cause instanceof Error ? cause.message : message)),
  );
}

const describePruned = (folder: string, { kept, deleted }: Pruned): string =>
  `${folder} has ${plural(kept, 'backup')} of this installation. Deleted ${plural(deleted.length, 'older one')}.`;

export const rowsTable = (rows: Readonly<Record<string, number>>): string =>
  table(
    ['TABLE', 'ROWS'],
    Object.entries(rows).map(([name, count]) => [name, String(count)]),
  );
