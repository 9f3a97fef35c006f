/** `keyreeve restore`: restores a backup and applies later deletions again. */
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { rootKeysOfBackup } from '../modules/backup/backup-keys.ts';
import { decryptWith } from '../modules/backup/encryption.ts';
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
  readonly identity?: string;
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
    .requiredOption('--from <file>', 'backup of an SQLite or PostgreSQL installation, - for standard input')
    .option('--identity <file>', 'file with the identity of age that decrypts the backup, of mode 0600')
    .option('--journal <folder>', 'further deletion journal (repeatable)', collect)
    .option('--replace', 'replace the data of the database, after confirmation')
    .option('--yes', yesHelp)
    .option('--accept-revival', 'restore without a deletion journal: keys deleted since the backup work again')
    .json()
    .examples(
      'keyreeve restore --from keyreeve-2026-11-22.gz',
      'keyreeve restore --from keyreeve-2026-11-22.gz --replace',
      'keyreeve restore --from keyreeve-2026-11-22.gz.age --identity identity.txt',
    )
    .references('docs/backup.md', 'database', 'masterKey', 'deletionJournal')
    .action(restore);
}

async function restore(options: RestoreCommandOptions): Promise<void> {
  const { from, journal: folders = [], replace: mayReplace = false, acceptRevival: acceptsRevival = false } = options;
  const config = readConfig(processEnvironment());
  // Without this check, a new database would get a new master key, which does not match any backup.
  findMasterKey(config);
  if (from !== '-' && statSync(resolve(from), { throwIfNoEntry: false })?.isDirectory())
    throw new BackupError(`${resolve(from)} is a folder; name a backup in it`);
  const decrypt = options.identity === undefined ? undefined : await decryptWith(resolve(options.identity));
  if (mayReplace) await confirm(`All data in ${describeDatabase(config.database)} will be deleted.`, options);
  const schemaNewest = newestSchema(config.database.kind);
  const restored = await withBackup(from, (path) => {
    const file = { path, decrypt };
    let replacedCheck: Buffer | undefined;
    const fill: FindRootKeys = (masterKey, current) => {
      replacedCheck = current && deriveKeys(current.newest).check;
      return rootKeysOfBackup(file, schemaNewest, masterKey, current);
    };
    return withInstallation({ mayCreate: true, fill }, ({ installation: { db, keys, rootKeys }, journal }) =>
      restoreBackup(operator, {
        ...file,
        db,
        keys,
        rootKeys,
        replacedCheck,
        clock: systemClock,
        journal,
        journalFolders: folders.map((folder) => resolve(folder)),
        mayReplace,
        acceptsRevival,
      }),
    );
  });
  print(options, restored, describe(restored));
}

/** A restore reads the backup several times, so that of standard input is written to a temporary file, encrypted if it is. */
async function withBackup<T>(from: string, run: (path: string) => Promise<T>): Promise<T> {
  if (from !== '-') return run(resolve(from));
  using folder = newTemporaryFolder();
  const path = join(folder.path, 'standard-input');
  await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
  return await run(path);
}

/** Removed at its end, and when a signal ends the process. */
function newTemporaryFolder(): Disposable & { readonly path: string } {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const remove = (): void => {
    for (const signal of signals) process.off(signal, end);
    rmSync(path, { recursive: true, force: true });
  };
  const end = (signal: NodeJS.Signals): void => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, end);
  const path = mkdtempSync(join(tmpdir(), 'keyreeve-restore-'));
  return { path, [Symbol.dispose]: remove };
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
