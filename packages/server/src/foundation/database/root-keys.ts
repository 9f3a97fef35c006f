/** SQL of the wrapped root keys (`crypto/root-key.ts`). */
import type { WrappedRootKey } from '../crypto/root-key.ts';
import type { Db, Reader, Transaction } from './db.ts';
import { eraseDeleted, overwriteDeletedTx } from './erase.ts';
import { sql } from './sql.ts';

const insertRootKey = sql(
  'insert_root_key',
  `insert into root_keys (version, generation, master_key_id, wrapped, created_at, superseded_by)
   values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
);
const selectRootKeys = sql<WrappedRootKey>(
  'list_root_keys',
  `select version, generation, master_key_id as "masterKeyId", wrapped, created_at as "createdAt",
     superseded_by as "supersededBy" from root_keys
   order by version, generation`,
);
const selectNewestVersion = sql<{ version: number | null }>(
  'newest_root_key_version',
  'select max(version) as version from root_keys',
);
const deleteRootKeys = sql('delete_root_keys', 'delete from root_keys');

/** @returns the wrappings of all versions by all master keys; none in a database that was not initialised */
export const listRootKeys = (reader: Reader): Promise<WrappedRootKey[]> => reader.all(selectRootKeys);

// No other rotation, and no start of an instance, at the same time. On SQLite, the write transaction is the lock.
const lockTable = sql('lock_root_keys', { sqlite: 'select null', postgres: 'lock table root_keys in exclusive mode' });
export const lockRootKeysTx = async (tx: Transaction): Promise<void> => void (await tx.all(lockTable));

const selectMasterKey = sql<{ found: number }>('find_master_key', {
  sqlite: 'select 1 as found from root_keys where master_key_id = $1',
  // Waits for a rotation that has locked the table.
  postgres: 'select 1 as found from root_keys where master_key_id = $1 for share',
});

/** Whether the master key opens the installation; that stays so until the transaction ends. */
export const isMasterKeyTx = async (tx: Transaction, masterKeyId: string): Promise<boolean> =>
  (await tx.get(selectMasterKey, [masterKeyId])) !== undefined;

const deleteRows = sql('delete_root_keys_of_generation', 'delete from root_keys where generation = $1');

/** Removes all wrappings by a master key. Call {@link eraseRootKeys} after the commit. @returns their number */
export async function deleteGenerationTx(tx: Transaction, generation: number): Promise<number> {
  await overwriteDeletedTx(tx);
  return tx.run(deleteRows, [generation]);
}

/** Removes deleted wrappings from the files. @returns whether it succeeded: {@link eraseDeleted} */
export const eraseRootKeys = (db: Db): Promise<boolean> => eraseDeleted(db, ['root_keys']);

/** @returns 0 in a database that was not initialised */
export const newestRootKeyVersion = async (reader: Reader): Promise<number> =>
  (await reader.get(selectNewestVersion))?.version ?? 0;

/** Replaces all wrappings. Call `eraseDeleted` after the commit. */
export async function replaceRootKeysTx(tx: Transaction, rows: readonly WrappedRootKey[]): Promise<void> {
  await overwriteDeletedTx(tx);
  await tx.run(deleteRootKeys);
  for (const row of rows) await insertRootKeyTx(tx, row);
}

/** @returns whether the row was inserted; false if another wrapping has its version and generation */
export async function insertRootKeyTx(tx: Transaction, row: WrappedRootKey): Promise<boolean> {
  const { version, generation, masterKeyId, wrapped, createdAt, supersededBy = null } = row;
  return (await tx.run(insertRootKey, [version, generation, masterKeyId, wrapped, createdAt, supersededBy])) === 1;
}
