/**
 * Opens the root keys of an installation with its master key. A new installation gets a random root key. The root key of an
 * installation by an earlier program is its master key, so that everything in its database stays valid.
 */
import { timingSafeEqual } from 'node:crypto';
import { ConfigError } from './config.ts';
import { deriveKeys } from '../foundation/crypto/master-key.ts';
import { DamagedRootKeyError, masterKeyIdOf, RootKeys, type WrappedRootKey } from '../foundation/crypto/root-key.ts';
import type { Db, Reader } from '../foundation/database/db.ts';
import { claimInstallationTx, findInstallation, isInstallationOf } from '../foundation/database/installation.ts';
import { requireSchemaTx, rootKeysSchema } from '../foundation/database/migrate.ts';
import { insertRootKeyTx, listRootKeys } from '../foundation/database/root-keys.ts';

/**
 * Opens the root keys, and creates them in a database without.
 * @param where the database's path, or its URL without the password
 * @throws ConfigError if the master key is not one of the database
 */
export async function claimRootKeys(db: Db, masterKey: Buffer, where: string, now: number): Promise<RootKeys> {
  const found = await findRootKeys(db, masterKey, where);
  if (found && (await listRootKeys(db)).length > 0) return found;
  await db.transaction(async (tx) => {
    // Of two processes that start at the same time, one inserts, and both read below.
    const created = RootKeys.create(masterKey, now);
    const isNew = await claimInstallationTx(tx, deriveKeys(created.newest).check, now);
    if (isNew) await requireSchemaTx(tx, rootKeysSchema);
    const added = isNew ? created : await earlierRootKeys(tx, masterKey);
    if (added && (isNew || (await listRootKeys(tx)).length === 0))
      for (const row of added.rows) await insertRootKeyTx(tx, row);
  });
  const claimed = await findRootKeys(db, masterKey, where);
  if (!claimed) throw notOf(where, masterKey, []);
  return claimed;
}

/**
 * Opens the root keys of a database whose schema is up to date, and writes nothing.
 * @returns undefined for a database without an installation
 * @throws ConfigError if the master key is not one of the database
 */
export async function findRootKeys(reader: Reader, masterKey: Buffer, where: string): Promise<RootKeys | undefined> {
  const installation = await findInstallation(reader);
  if (!installation) return undefined;
  const rows = await listRootKeys(reader);
  let keys: RootKeys | undefined;
  try {
    keys = rows.length === 0 ? await earlierRootKeys(reader, masterKey) : RootKeys.open(masterKey, rows);
  } catch (error) {
    if (!(error instanceof DamagedRootKeyError)) throw error;
    throw new ConfigError([`the database ${where} is damaged: ${error.message}; restore a backup`]);
  }
  if (!keys) throw notOf(where, masterKey, rows);
  const { check } = deriveKeys(keys.newest);
  // A rotation of the root key may have committed between the two reads, so a different check is read again.
  if (!timingSafeEqual(check, installation.masterKeyCheck) && !(await isInstallationOf(reader, check)))
    throw new ConfigError([
      `the database ${where} is damaged: its root key is of another installation; restore a backup`,
    ]);
  return keys;
}

/** @returns undefined unless the installation's keys derive from the master key itself */
async function earlierRootKeys(reader: Reader, masterKey: Buffer): Promise<RootKeys | undefined> {
  const installation = await findInstallation(reader);
  if (!installation || !timingSafeEqual(installation.masterKeyCheck, deriveKeys(masterKey).check)) return undefined;
  return RootKeys.ofEarlier(masterKey, installation.createdAt);
}

function notOf(where: string, masterKey: Buffer, rows: readonly WrappedRootKey[]): ConfigError {
  const ids = [...new Set(rows.map(({ masterKeyId }) => masterKeyId))].join(' and ');
  const needed = ids === '' ? '' : ` (its id is ${masterKeyIdOf(masterKey)}, and the database needs ${ids})`;
  return new ConfigError([`the master key is not that of the database ${where}${needed}`]);
}
