/** `keyreeve move`: moves an SQLite installation to PostgreSQL; all issued credentials remain valid. */
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { assertMigrated, moveInstallation, planMove, type Moved } from '../modules/backup/move.ts';
import { systemClock } from '../foundation/clock.ts';
import { ConfigError, processEnvironment, readConfig, type Config } from '../app/configuration/config.ts';
import { databaseUrl } from '../app/configuration/config-values.ts';
import { deriveKeys } from '../foundation/crypto/master-key.ts';
import type { RootKeys } from '../foundation/crypto/root-key.ts';
import {
  describeDatabase,
  openDatabase,
  openForReads,
  type DatabaseLocation,
  type SqliteLocation,
} from '../foundation/database/database.ts';
import type { Db, Reader } from '../foundation/database/db.ts';
import { LateAuditKey } from '../foundation/database/late-audit-key.ts';
import { usagePathOf } from '../foundation/database/usage-file.ts';
import { retireFile } from '../foundation/database/retire-sqlite-file.ts';
import { masterKeyPath } from '../app/installation/earlier-installation.ts';
import {
  embeddedExists,
  findMasterKey,
  movedPath,
  noDatabase,
  openInstallation,
} from '../app/installation/installation.ts';
import { findRootKeys } from '../app/key-files/installation-keys.ts';
import { reservedPathOf } from '../app/installation/reserved-space.ts';
import { rowsTable } from './backup.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { operator } from './session.ts';

interface MoveOptions extends OutputOptions {
  readonly to: string;
  readonly dryRun?: boolean;
}

export function moveCommand(): Command {
  return new CliCommand('move')
    .group('operate')
    .lowPriority()
    .description('Move an SQLite installation to PostgreSQL with all ids, keys and sessions. Stop the service first.')
    .requiredOption('--to <url>', 'URL of an empty PostgreSQL database')
    .option('--dry-run', 'check the move and print what it would copy; change nothing')
    .json()
    .examples("keyreeve move --to 'postgres://keyreeve@db.example.com/keyreeve' --dry-run")
    .references('docs/postgresql.md', 'database', 'masterKey')
    .action(move);
}

async function move({ to, dryRun = false, ...options }: MoveOptions): Promise<void> {
  const config = readConfig(processEnvironment());
  const target = parseTarget(to);
  const { database } = config;
  if (database.kind !== 'sqlite') {
    throw new UsageError('only an SQLite installation can be moved; KEYREEVE_DATABASE_URL already names PostgreSQL');
  }
  if (!embeddedExists(database.path)) throw new ConfigError([noDatabase(database.path)]);
  const masterKey = findMasterKey(config);
  if (dryRun) return plan(options, database, target, masterKey);

  const installed = { ...config, database: target, masterKey };
  const moved = await retireFile(database.path, movedPath(database.path), async (source) => {
    const { db, keys } = await openInstallation(installed, {
      clock: systemClock,
      mayCreate: true,
      fill: () => rootKeysIn(source, database, masterKey),
    });
    return closeAfter(db, () => moveInstallation(operator, source, db, { keys, clock: systemClock }));
  });
  rmSync(reservedPathOf(database.path), { force: true });
  const settings = settingsAfter(config, database.path, target);
  print(options, { ...moved, source: movedPath(database.path), settings }, describe(moved, database.path, settings));
}

/** @throws SchemaError for an older schema, ConfigError if the master key is another */
async function rootKeysIn(
  source: Reader & Pick<Db, 'dialect'>,
  location: DatabaseLocation,
  masterKey: Buffer,
): Promise<RootKeys> {
  await assertMigrated(source);
  const where = describeDatabase(location);
  const rootKeys = await findRootKeys(source, masterKey, where);
  if (!rootKeys) throw new ConfigError([`the database ${where} has no installation`]);
  return rootKeys;
}

async function plan(
  options: OutputOptions,
  from: SqliteLocation,
  to: DatabaseLocation,
  masterKey: Buffer,
): Promise<void> {
  // No transaction of a plan records an audit event.
  const source = await openForReads(from, new LateAuditKey());
  const rows = await closeAfter(source, async () => {
    const { check } = deriveKeys((await rootKeysIn(source, from, masterKey)).newest);
    const target = await openDatabase(to, new LateAuditKey());
    return closeAfter(target, () => planMove(source, target, check));
  });
  const text = `${rowsTable(rows)}\n\nThis would move to ${describeDatabase(to)}, which is empty. Nothing was changed.`;
  print(options, { rows, target: describeDatabase(to) }, text);
}

async function closeAfter<T>(db: Pick<Db, 'close'>, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } finally {
    await db.close();
  }
}

function parseTarget(text: string): DatabaseLocation {
  let target: DatabaseLocation;
  try {
    target = databaseUrl(text);
  } catch (error) {
    throw new UsageError(`--to ${error instanceof Error ? error.message : String(error)}`);
  }
  if (target.kind !== 'postgres') throw new UsageError('--to must be like postgres://user:password@host:5432/database');
  return target;
}

/** The settings that every instance needs after the move, without passwords. */
function settingsAfter(config: Config, path: string, target: DatabaseLocation): Record<string, string> {
  return {
    KEYREEVE_DATABASE_URL: describeDatabase(target),
    ...(config.masterKey ? {} : { KEYREEVE_MASTER_KEY_FILE: masterKeyPath(path) }),
    ...(config.deletionJournal === undefined ? {} : { KEYREEVE_DELETION_JOURNAL: config.deletionJournal }),
  };
}

function describe(
  { rows, wasDone, hasUsage }: Moved,
  path: string,
  settings: Readonly<Record<string, string>>,
): string {
  return [
    wasDone ? 'An earlier move had copied all rows. It is complete now.' : rowsTable(rows),
    ...(hasUsage
      ? []
      : [
          `Not moved, or only in part: usage and times of last use. ${usagePathOf(movedPath(path))} is missing, cannot be read, or belongs to another database.`,
        ]),
    '',
    `Moved. The SQLite database is now ${movedPath(path)} and is no longer used. Set on every instance:`,
    ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
    'Add the password to the URL. Keep all other settings. The master key stays the same.',
  ].join('\n');
}
