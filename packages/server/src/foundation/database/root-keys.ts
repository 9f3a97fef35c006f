/** SQL of the wrapped root keys (`crypto/root-key.ts`). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WrappedRootKey } from '../crypto/root-key.ts';
import { DomainError } from '../errors.ts';
import type { Db, Reader, Transaction } from './db.ts';
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

// SQLite overwrites the deleted content with zeros. The other copies: `eraseDeleted`.
const overwriteDeleted = sql('overwrite_deleted', { sqlite: 'pragma secure_delete = on', postgres: 'select null' });
const deleteRows = sql('delete_root_keys_of_generation', 'delete from root_keys where generation = $1');

/** Removes all wrappings by a master key. Call {@link eraseDeleted} after the commit. @returns their number */
export async function deleteGenerationTx(tx: Transaction, generation: number): Promise<number> {
  await tx.all(overwriteDeleted);
  return tx.run(deleteRows, [generation]);
}

// Deleted content remains in the write-ahead log of SQLite and in the pages of PostgreSQL.
const erase = sql<{ busy?: number }>('erase_deleted_root_keys', {
  sqlite: 'pragma wal_checkpoint(truncate)',
  postgres: 'vacuum full root_keys',
});
/** Every earlier deletion has a lower number. SQLite needs none. */
const selectTransaction = sql<{ id: string }>('next_transaction', {
  sqlite: `select '' as id`,
  postgres: 'select pg_current_xact_id()::xid::text as id',
});
/**
 * `file` changes when PostgreSQL has rewritten the table, which only its owner can do; for other roles, it prints a warning.
 * `isComplete`: a rewritten table keeps the rows that a transaction with an earlier snapshot can still read, such as a backup.
 * `relfrozenxid` is then the number of the oldest of these transactions.
 */
const selectFile = sql<{ file: number; isComplete: number }>('find_root_keys_file', {
  sqlite: 'select 0 as file, $1 is not null as "isComplete"',
  postgres: `select pg_relation_filenode(oid)::bigint as file, (age(relfrozenxid) < age($1::text::xid))::int as "isComplete"
    from pg_class where oid = 'root_keys'::regclass`,
});
/** Each attempt on SQLite waits 5 s for readers. */
const eraseAttemptsMax = 3;
/** PostgreSQL does not wait for other transactions. Those of connections that start are short. */
const erasePauseMs = 1_000;

/**
 * Removes deleted wrappings from the files of the database.
 * @returns false if another process, such as a backup, reads an earlier state all the time, or if the role is not the owner of
 *   the table on PostgreSQL
 */
export async function eraseDeleted(db: Db): Promise<boolean> {
  const transaction = (await db.get(selectTransaction))?.id ?? '';
  for (let attempt = 1; attempt <= eraseAttemptsMax; attempt++) {
    try {
      if (attempt > 1 && db.dialect === 'postgres') await sleep(erasePauseMs);
      const before = await db.get(selectFile, [transaction]);
      const [row] = await db.all(erase);
      const after = await db.get(selectFile, [transaction]);
      if (db.dialect === 'sqlite' ? row?.busy === 0 : before?.file !== after?.file && after?.isComplete === 1)
        return true;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }
  return false;
}

/** @returns 0 in a database that was not initialised */
export const newestRootKeyVersion = async (reader: Reader): Promise<number> =>
  (await reader.get(selectNewestVersion))?.version ?? 0;

/** Replaces all wrappings. Call {@link eraseDeleted} after the commit. */
export async function replaceRootKeysTx(tx: Transaction, rows: readonly WrappedRootKey[]): Promise<void> {
  await tx.all(overwriteDeleted);
  await tx.run(deleteRootKeys);
  for (const row of rows) await insertRootKeyTx(tx, row);
}

/** @returns whether the row was inserted; false if another wrapping has its version and generation */
export async function insertRootKeyTx(tx: Transaction, row: WrappedRootKey): Promise<boolean> {
  const { version, generation, masterKeyId, wrapped, createdAt, supersededBy = null } = row;
  return (await tx.run(insertRootKey, [version, generation, masterKeyId, wrapped, createdAt, supersededBy])) === 1;
}
