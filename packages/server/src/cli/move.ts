/** `keyreeve move`: an embedded installation to PostgreSQL, with all that it has issued. */
import { Command } from 'commander';
import { moveInstallation, planMove, type Moved } from '../modules/backup/move.ts';
import { systemClock } from '../foundation/clock.ts';
import { ConfigError, processEnvironment, readConfig, type Config } from '../app/config.ts';
import { databaseUrl } from '../app/config-values.ts';
import { deriveKeys, type InstallationKeys } from '../foundation/crypto/master-key.ts';
import { describeDatabase, openDatabase, type DatabaseLocation } from '../foundation/database/database.ts';
import type { Db } from '../foundation/database/db.ts';
import { retireFile } from '../foundation/database/retire-sqlite-file.ts';
import { masterKeyPath } from '../app/earlier-installation.ts';
import { embeddedExists, findMasterKey, movedPath, noDatabase, openInstallation } from '../app/installation.ts';
import { rowsTable } from './backup.ts';
import { UsageError } from './failure.ts';
import { jsonHelp, print, type OutputOptions } from './output.ts';
import { operator } from './session.ts';

interface MoveOptions extends OutputOptions {
  readonly to: string;
  readonly dryRun?: boolean;
}

export function moveCommand(): Command {
  return new Command('move')
    .description(
      'Move the embedded installation to PostgreSQL with every id, key and session. Stop the service before.',
    )
    .requiredOption('--to <url>', 'postgres://user:password@host:5432/database')
    .option('--dry-run', 'say what would move and whether it can; change nothing')
    .option('--json', jsonHelp)
    .action(move);
}

async function move({ to, dryRun = false, ...options }: MoveOptions): Promise<void> {
  const config = readConfig(processEnvironment());
  const target = addressOf(to);
  const { database } = config;
  if (database.kind !== 'sqlite') {
    throw new UsageError('only an embedded installation can be moved; KEYREEVE_DATABASE_URL names PostgreSQL already');
  }
  if (!embeddedExists(database.path)) throw new ConfigError([noDatabase(database.path)]);
  const masterKey = findMasterKey(config);
  if (dryRun) return plan(options, database, target, deriveKeys(masterKey));

  const installed = { ...config, database: target, masterKey };
  const moved = await retireFile(database.path, movedPath(database.path), async (source) => {
    const { db, keys } = await openInstallation(installed, {
      clock: systemClock,
      mayCreate: true,
      mayMigrate: true,
      isToBeFilled: true,
    });
    return closing(db, () => moveInstallation(operator, source, db, keys.check, systemClock));
  });
  const settings = settingsAfter(config, database.path, target);
  print(options, { ...moved, source: movedPath(database.path), settings }, describe(moved, database.path, settings));
}

async function plan(
  options: OutputOptions,
  from: DatabaseLocation,
  to: DatabaseLocation,
  keys: InstallationKeys,
): Promise<void> {
  const source = await openDatabase(from, keys.auditChain);
  const rows = await closing(source, async () => {
    const target = await openDatabase(to, keys.auditChain);
    return closing(target, () => planMove(source, target, keys.check));
  });
  const text = `${rowsTable(rows)}\n\nThis would move to ${describeDatabase(to)}, which is empty. Nothing was changed.`;
  print(options, { rows, target: describeDatabase(to) }, text);
}

async function closing<T>(db: Db, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await db.close();
  }
}

function addressOf(text: string): DatabaseLocation {
  let address: DatabaseLocation;
  try {
    address = databaseUrl(text);
  } catch (error) {
    throw new UsageError(`--to ${error instanceof Error ? error.message : String(error)}`);
  }
  if (address.kind !== 'postgres')
    throw new UsageError('--to must be like postgres://user:password@host:5432/database');
  return address;
}

/** What the configuration must say from now on, without passwords. */
function settingsAfter(config: Config, path: string, target: DatabaseLocation): Record<string, string> {
  return {
    KEYREEVE_DATABASE_URL: describeDatabase(target),
    ...(config.masterKey ? {} : { KEYREEVE_MASTER_KEY_FILE: masterKeyPath(path) }),
    ...(config.deletionJournal === undefined ? {} : { KEYREEVE_DELETION_JOURNAL: config.deletionJournal }),
  };
}

function describe({ rows, wasDone }: Moved, path: string, settings: Readonly<Record<string, string>>): string {
  return [
    wasDone ? 'An earlier move had brought everything over; it is finished now.' : rowsTable(rows),
    '',
    `Moved. What was the database is ${movedPath(path)} now, and nothing serves from it again. Set on every instance:`,
    ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
    'with the password in the URL, and whatever else was set before. The master key stays the same.',
  ].join('\n');
}
