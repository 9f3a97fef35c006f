/**
 * Opens an installation: its database, its master key and its root keys. A master key is created only for a new SQLite
 * database, because a new key for an existing database would invalidate every credential in it. An empty database is
 * initialised only if there is no trace of an earlier installation.
 */
import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../foundation/clock.ts';
import {
  ConfigError,
  latestSecret,
  processEnvironment,
  type Config,
  type Environment,
} from '../configuration/config.ts';
import { deriveAllKeys, type InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { RootKeys } from '../../foundation/crypto/root-key.ts';
import { describeDatabase, openDatabase, type DatabaseLocation } from '../../foundation/database/database.ts';
import type { BeforeRead, Db } from '../../foundation/database/db.ts';
import { unfencedTimes } from '../../foundation/database/database-waits.ts';
import { LateAuditKey } from '../../foundation/database/late-audit-key.ts';
import { findInstallation } from '../../foundation/database/installation.ts';
import { claimRootKeys } from '../key-files/installation-keys.ts';
import { markAsInitialised, masterKeyPath, refusalBeside, tracesOfEarlier } from './earlier-installation.ts';
import { createMasterKey, readMasterKey } from '../key-files/master-key-file.ts';
import { isForbidden } from '../../foundation/database/unavailable.ts';
import { countMissingMigrations, isEmptyDatabase, migrate, SchemaError } from '../../foundation/database/migrate.ts';
import type { MigrationWait } from '../../foundation/database/migration-locks.ts';

export interface Installation {
  readonly db: Db;
  readonly keys: InstallationKeys;
  /** Names of the migrations that this call has applied. */
  readonly migrated: readonly string[];
}

export interface OpenedInstallation extends Installation {
  /** The keys that `keys` derive from. */
  readonly rootKeys: RootKeys;
}

/**
 * Opens the root keys of the installation that fills a database.
 * @param current of the installation in the database, whose rows are replaced; undefined without one
 */
export type FindRootKeys = (masterKey: Buffer, current: RootKeys | undefined) => Promise<RootKeys>;

export interface OpenOptions {
  readonly clock: Clock;
  /** Whether a missing database and its master key may be created, and missing migrations are applied. Otherwise each is an error. */
  readonly mayCreate: boolean;
  /** Reports a migration that repeats, because other transactions use its tables. */
  readonly onMigrationWait?: ((wait: MigrationWait) => void) | undefined;
  /**
   * The caller fills the database with an earlier installation, as a restore does. An empty database is not claimed before
   * that, so that the result of a failed restore cannot start as a new installation.
   */
  readonly fill?: FindRootKeys | undefined;
  /** Files of procedures that the writer thread of SQLite loads at its start. */
  readonly procedures?: readonly string[];
  /** The source of the configuration. Default: that of the process. */
  readonly environment?: Environment | undefined;
  /** Of a process that only reads. */
  readonly beforeRead?: BeforeRead | undefined;
}

/** The path of an SQLite database after it was moved to PostgreSQL. It is no longer used. */
export const movedPath = (databasePath: string): string => `${databasePath}.moved`;

/** @throws ConfigError, SchemaError, DomainError `unavailable` */
export async function openInstallation(config: Config, options: OpenOptions): Promise<OpenedInstallation> {
  const { fill, procedures, environment = processEnvironment(), beforeRead } = options;
  const traces = fill ? [] : await tracesOfEarlier(config);
  const masterKey = await masterKeyOf(config, options, traces);
  const auditKey = new LateAuditKey();
  const location = { ...locationOf(config, environment), ...(procedures ? { procedures } : {}) };
  const db = await openDatabase(location, auditKey, beforeRead);
  const where = describeDatabase(config.database);
  try {
    // First, because other statements can fail on a schema that this program does not know.
    const missing = await countMissingMigrations(db);
    const isNew = (await isEmptyDatabase(db)) || !(await findInstallation(db));
    if (isNew && traces.length > 0) throw new ConfigError([refusalBeside(traces, where)]);
    const migrated = missing > 0 ? await bringUpToDate(db, options, where) : [];
    const current = isNew && fill ? undefined : await claimRootKeys(db, masterKey, where, options.clock.now());
    if (current && config.database.kind === 'sqlite') markAsInitialised(masterKeyPath(config.database.path));
    const rootKeys = await rootKeysOf(current, masterKey, fill);
    const keys = deriveAllKeys(rootKeys.keys);
    auditKey.use(keys.auditChain);
    return { db, keys, rootKeys, migrated };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function locationOf(config: Config, environment: Environment): DatabaseLocation {
  const { database, databaseCa: privateCa, mayReadWorldReadableSecrets: mayKeyBeWorldReadable } = config;
  const unfenced = config.databaseFailover === 'unfenced' ? unfencedTimes : undefined;
  return database.kind === 'sqlite'
    ? database
    : {
        ...database,
        latest: latestSecret(config, 'database', environment),
        privateCa,
        mayKeyBeWorldReadable,
        unfenced,
      };
}

/** @throws Error of `fill` */
async function rootKeysOf(current: RootKeys | undefined, masterKey: Buffer, fill?: FindRootKeys): Promise<RootKeys> {
  const rootKeys = fill ? await fill(masterKey, current) : current;
  if (!rootKeys) throw new Error('a database without an installation has no root keys');
  return rootKeys;
}

async function bringUpToDate(
  db: Db,
  { clock, mayCreate, onMigrationWait: onWait }: OpenOptions,
  where: string,
): Promise<readonly string[]> {
  if (!mayCreate && (await isEmptyDatabase(db))) throw new ConfigError([noDatabase(where)]);
  if (!mayCreate) throw new SchemaError('the database is older than this program; run `keyreeve migrate`');
  try {
    return await migrate(db, clock, { onWait });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new SchemaError(
      'the database needs a migration, which its role is not permitted to apply; run `keyreeve migrate` with a role that can change the schema',
    );
  }
}

/** @returns the master key of the configuration, or of the file beside the database. @throws ConfigError if there is none */
export function findMasterKey(config: Config): Buffer {
  const { database, masterKey: given } = config;
  if (given || database.kind === 'postgres') return masterKeyGiven(given);
  const path = masterKeyPath(database.path);
  if (existsSync(path)) return readMasterKey(path, config);
  throw new ConfigError([
    `there is no master key at ${path}; put the master key of this installation there, or set KEYREEVE_MASTER_KEY`,
  ]);
}

function masterKeyGiven(given: Buffer | undefined): Buffer {
  if (!given) throw new ConfigError(['KEYREEVE_MASTER_KEY must be set']);
  return given;
}

/** Creates a master key beside a new SQLite database. For PostgreSQL, the configuration contains it. */
async function masterKeyOf(config: Config, { mayCreate }: OpenOptions, traces: readonly string[]): Promise<Buffer> {
  const { database, masterKey: given } = config;
  if (database.kind === 'postgres') return masterKeyGiven(given);
  const { path } = database;
  const exists = embeddedExists(path);
  if (!exists && traces.length > 0) throw new ConfigError([refusalBeside(traces, path)]);
  if (!exists && !mayCreate) throw new ConfigError([noDatabase(path)]);
  return given ?? (await loadMasterKey(path, exists, config));
}

/** @throws ConfigError if the database was moved: a new database in its place would reject every credential */
export function embeddedExists(path: string): boolean {
  const exists = existsSync(path) && statSync(path).size > 0;
  if (!exists && existsSync(movedPath(path))) {
    throw new ConfigError([
      `the database ${path} was moved; set KEYREEVE_DATABASE_URL to its new location. The old file is now ${movedPath(path)}`,
    ]);
  }
  return exists;
}

/** @param where the database's path, or its URL without the password */
export const noDatabase = (where: string): string =>
  `there is no database at ${where}; \`keyreeve serve\`, \`migrate\` or \`account create\` creates it`;

async function loadMasterKey(databasePath: string, databaseExists: boolean, config: Config): Promise<Buffer> {
  const path = masterKeyPath(databasePath);
  if (!existsSync(path)) {
    if (databaseExists) {
      throw new ConfigError([
        `the database ${databasePath} exists, but its master key ${path} is missing; put it back, or set KEYREEVE_MASTER_KEY`,
      ]);
    }
    await createMasterKey(path);
  }
  return readMasterKey(path, config);
}
