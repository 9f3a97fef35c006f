/** Opens the root keys of an installation with its master key. A new installation gets a random root key. */
import { timingSafeEqual } from 'node:crypto';
import { ConfigError } from '../configuration/config.ts';
import { deriveKeys } from '../../foundation/crypto/master-key.ts';
import { DamagedRootKeyError, masterKeyIdOf, RootKeys, type WrappedRootKey } from '../../foundation/crypto/root-key.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { claimInstallationTx, findInstallation, isInstallationOf } from '../../foundation/database/installation.ts';
import { insertRootKeyTx, listRootKeys } from '../../foundation/database/root-keys.ts';

/**
 * Opens the root keys, and creates them in a database without.
 * @param where the database's path, or its URL without the password
 * @throws ConfigError if the master key is not one of the database
 */
export async function claimRootKeys(db: Db, masterKey: Buffer, where: string, now: number): Promise<RootKeys> {
  const found = await findRootKeys(db, masterKey, where);
  if (found) return found;
  await db.transaction(async (tx) => {
    // Of two processes that start at the same time, one inserts, and both read below.
    const created = RootKeys.create(masterKey, now);
    if (await claimInstallationTx(tx, deriveKeys(created.newest).check, now))
      for (const row of created.rows) await insertRootKeyTx(tx, row);
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
    keys = RootKeys.open(masterKey, rows);
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

function notOf(where: string, masterKey: Buffer, rows: readonly WrappedRootKey[]): ConfigError {
  const ids = [...new Set(rows.map(({ masterKeyId }) => masterKeyId))].join(' and ');
  const needed = ids === '' ? '' : ` (its id is ${masterKeyIdOf(masterKey)}, and the database needs ${ids})`;
  return new ConfigError([`the master key is not that of the database ${where}${needed}`]);
}
