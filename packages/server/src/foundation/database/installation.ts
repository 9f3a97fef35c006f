/** The single row that ties a database to its root key. */
import { timingSafeEqual } from 'node:crypto';
import type { Db, Reader, Transaction } from './db.ts';
import { sql } from './sql.ts';

const insertInstallation = sql(
  'insert_installation',
  `insert into installation (id, master_key_check, created_at) values (1, $1, $2) on conflict (id) do nothing`,
);
const replaceCheck = sql(
  'replace_installation_check',
  'update installation set master_key_check = $2 where id = 1 and master_key_check = $1',
);
export interface InstallationRow {
  /** Derives from the root key. */
  readonly masterKeyCheck: Uint8Array;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}
const selectInstallation = sql<InstallationRow>(
  'select_installation',
  `select master_key_check as "masterKeyCheck", created_at as "createdAt" from installation where id = 1`,
);

/** @returns undefined for a database without an installation */
export const findInstallation = (reader: Reader): Promise<InstallationRow | undefined> =>
  reader.get(selectInstallation);

/** @returns whether the installation had the check `from` */
export const replaceCheckTx = async (tx: Transaction, from: Buffer, to: Buffer): Promise<boolean> =>
  (await tx.run(replaceCheck, [from, to])) === 1;

/**
 * Claims a new database for the root key.
 * @returns whether this call has claimed it; false if it belongs to an installation
 */
export const claimInstallationTx = async (tx: Transaction, masterKeyCheck: Buffer, now: number): Promise<boolean> =>
  (await tx.run(insertInstallation, [masterKeyCheck, now])) === 1;

/** @returns undefined for a database without an installation */
export async function isInstallationOf(reader: Reader, masterKeyCheck: Buffer): Promise<boolean | undefined> {
  const row = await reader.get(selectInstallation);
  return row && timingSafeEqual(row.masterKeyCheck, masterKeyCheck);
}

const selectKeysImported = sql<{ at: number | null }>(
  'select_keys_imported',
  `select keys_imported_at as at from installation where id = 1`,
);
const setKeysImported = sql(
  'note_keys_imported',
  `update installation set keys_imported_at = $1 where id = 1 and keys_imported_at is null`,
);

/** Whether keys may have been imported. Verifications wait for the result. @throws DomainError `unavailable` */
export async function wereKeysImported(db: Db): Promise<boolean> {
  const [row] = await db.all(selectKeysImported, [], { isShared: true });
  return row !== undefined && row.at !== null;
}

/** Records the first import of keys. @param now milliseconds since 1970 */
export const recordKeyImportTx = async (tx: Transaction, now: number): Promise<void> =>
  void (await tx.run(setKeysImported, [now]));

const setFirstEnvironment = sql(
  'set_first_environment',
  `update installation set first_environment = $1 where id = 1 and first_environment is null`,
);
const selectFirstEnvironment = sql<{ name: string | null }>(
  'select_first_environment',
  `select first_environment as name from installation where id = 1`,
);

/** @returns null before the first start with environments */
export const findFirstEnvironment = async (db: Db): Promise<string | null> =>
  (await db.get(selectFirstEnvironment))?.name ?? null;

/** Records the first environment, unless one is recorded. */
export async function claimFirstEnvironment(db: Db, name: string): Promise<void> {
  if ((await findFirstEnvironment(db)) === null) await db.transaction((tx) => tx.run(setFirstEnvironment, [name]));
}

// Instances with different clocks write these times. A large difference is a pause of the service or a jump of a clock.
const claimCheck = sql<{ countedFrom: number }>(
  'claim_unused_keys_check',
  `update installation set unused_keys_checked_at = $1, unused_keys_counted_from =
     case when unused_keys_checked_at < $3 or unused_keys_checked_at > $4 then $1 else coalesce(unused_keys_counted_from, 0) end
   where id = 1 and (unused_keys_checked_at is null or unused_keys_checked_at <= $2 or unused_keys_checked_at > $4)
   returning unused_keys_counted_from as "countedFrom"`,
);
const restartCount = sql(
  'restart_unused_keys_count',
  `update installation set unused_keys_checked_at = $1, unused_keys_counted_from = $1 where id = 1`,
);

/**
 * Claims the next check for unused keys for the caller.
 * @param everyMs the minimum interval between two checks of any instances
 * @param pauseMsMax keys count as used now if the previous check was longer ago, or is further in the future
 * @returns the earliest time from which days without a use count, in milliseconds; undefined if no check is due
 */
export const claimUnusedKeysCheckTx = async (
  tx: Transaction,
  now: number,
  everyMs: number,
  pauseMsMax: number,
): Promise<number | undefined> =>
  (await tx.get(claimCheck, [now, now - everyMs, now - pauseMsMax, now + pauseMsMax]))?.countedFrom;

/** Counts days without a use from now, because the stored times of last use are old (after a restore). */
export const countUnusedKeysFromTx = async (tx: Transaction, now: number): Promise<void> =>
  void (await tx.run(restartCount, [now]));

const forgetCheck = sql('forget_unused_keys_check', `update installation set unused_keys_checked_at = 0 where id = 1`);

/** Counts days without a use from the next check, because times of last use may be missing. */
export const restartUnusedKeysCountTx = async (tx: Transaction): Promise<void> => void (await tx.run(forgetCheck));

const setRestored = sql('set_restored', `update installation set restored_at = $1 where id = 1`);

/** Records that the database may have lost rows that no backup and no journal has, such as identity tokens that were used. */
export const recordRestoreTx = async (tx: Transaction, now: number): Promise<void> =>
  void (await tx.run(setRestored, [now]));

const setLastBackup = sql('set_last_backup', `update installation set last_backup_at = $1 where id = 1`);
const selectLastBackup = sql<{ at: number | null }>(
  'select_last_backup',
  `select last_backup_at as at from installation where id = 1`,
);

/** Records that a backup succeeded. @param now milliseconds since 1970 @throws DomainError `unavailable` */
export const recordBackup = async (db: Db, now: number): Promise<void> =>
  void (await db.transaction((tx) => tx.run(setLastBackup, [now])));

/** @returns milliseconds since 1970; null before the first backup */
export const findLastBackupAt = async (db: Db): Promise<number | null> => (await db.get(selectLastBackup))?.at ?? null;

/** Resolves if the database responds. @throws DomainError `unavailable` */
export async function pingDatabase(db: Db): Promise<void> {
  await db.all(selectInstallation, [], { isShared: true });
}
