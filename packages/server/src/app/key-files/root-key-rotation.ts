/** Rotates the root key of the installation of a configuration. */
import { DeletionJournal } from '../../modules/deletion-journal/deletion-journal.ts';
import { isJournal, withPreparedJournals } from '../../modules/deletion-journal/change-key.ts';
import {
  rotateRootKey,
  RootKeyRotationError,
  type OpenedKeys,
  type Rotated,
} from '../../modules/root-key-rotation/rotate.ts';
import { sealedTables } from '../../modules/root-key-rotation/sealed-columns.ts';
import { SigningKeys } from '../../modules/signing-keys/signing-keys.ts';
import type { Clock } from '../../foundation/clock.ts';
import { deriveAllKeys } from '../../foundation/crypto/master-key.ts';
import { openDatabase } from '../../foundation/database/database.ts';
import type { Db } from '../../foundation/database/db.ts';
import { eraseDeleted, type ErasableTable } from '../../foundation/database/erase.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Config } from '../configuration/config.ts';
import { findMasterKey, openInstallation } from '../installation/installation.ts';

export interface RotateOptions {
  readonly clock: Clock;
  /** Folders of deletion journals beside that of the configuration. */
  readonly journalFolders: readonly string[];
  /** Ids of instances that have ended, although their last time is in the future. */
  readonly endedInstances: readonly string[];
  readonly isDryRun: boolean;
}

export interface RotationResult extends Rotated {
  /** Files of deletion journals that stay genuine. */
  readonly journalFiles: number;
  /** Messages about untrustworthy files of deletion journals, and about what the next start does. */
  readonly warnings: readonly string[];
}

/** @throws ConfigError, SchemaError, RootKeyRotationError, JournalError, DomainError `unavailable` */
export async function rotateInstallation(
  principal: Principal,
  config: Config,
  { clock, journalFolders, endedInstances, isDryRun }: RotateOptions,
): Promise<RotationResult> {
  const current = await openKeys(config, clock);
  if (current.rootKeys.isMasterKeyRotating)
    throw new RootKeyRotationError(
      'a rotation of the master key has not been finished; run `keyreeve master-key rotate --finish` first',
    );
  // The folder of the configuration may be empty. Each folder that the operator names must contain a journal of this installation:
  // if it is the wrong folder, the files of the right one become untrustworthy at the rotation.
  for (const folder of journalFolders)
    if (!(await isJournal(folder, current.keys)))
      throw new RootKeyRotationError(`there is no deletion journal of this installation in ${folder}`);
  const rootKeys = current.rootKeys.rotate(findMasterKey(config));
  const next = { rootKeys, keys: deriveAllKeys(rootKeys.keys) };
  const folders = [...new Set([...(config.deletionJournal ? [config.deletionJournal] : []), ...journalFolders])];
  const db = await openDatabase(config.database, next.keys.auditChain);
  try {
    const { jwtAlg: alg, accessTokenTtlSeconds } = config;
    const { signingKeySeal: seal } = next.keys;
    const signingKey = await new SigningKeys({
      db,
      clock,
      revocations: undefined,
      seal,
      alg,
      accessTokenTtlSeconds,
    }).newKey();
    const { journals, rotated } = await withPreparedJournals(isDryRun ? [] : folders, current.keys, next.keys, () =>
      rotateRootKey(principal, { db, clock, current, next, signingKey, endedInstances, isDryRun }),
    );
    const journalFiles = journals.reduce((sum, { files }) => sum + files, 0);
    const warnings = journals.flatMap((journal) => journal.warnings);
    if (!isDryRun) warnings.push(...(await completeJournal(config, db, clock, next)));
    if (!isDryRun && !(await eraseDeleted(db, erasedTables))) warnings.push(notErased);
    return { ...rotated, journalFiles, warnings };
  } finally {
    await db.close();
  }
}

const erasedTables: readonly ErasableTable[] = ['root_keys', ...sealedTables.map(({ table }) => table)];
const notErased = `the files of the database may contain values that the earlier root key opens. On PostgreSQL, run \`vacuum full\` for the tables ${erasedTables.join(', ')} as their owner, when no transaction is open. On SQLite, end the processes that read the database, and run \`pragma wal_checkpoint(truncate)\``;

/** Closes the connection, whose audit key is the current one. */
async function openKeys(config: Config, clock: Clock): Promise<OpenedKeys> {
  const { db, keys, rootKeys } = await openInstallation(config, { clock, mayCreate: false });
  await db.close();
  return { keys, rootKeys };
}

/** After the commit, so a failure is a warning: the next start of the service repeats this. */
async function completeJournal(config: Config, db: Db, clock: Clock, { keys }: OpenedKeys): Promise<string[]> {
  const { deletionJournal: folder } = config;
  if (folder === undefined) return [];
  try {
    await new DeletionJournal({ folder, db, clock, keys }).catchUp();
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      `the deletion journal ${folder} could not be completed (${reason}); the next start of the service completes it`,
    ];
  }
}
