/** SQL of the wrapped root keys (`crypto/root-key.ts`). */
import type { WrappedRootKey } from '../crypto/root-key.ts';
import type { Reader, Transaction } from './db.ts';
import { sql } from './sql.ts';

const insertRootKey = sql(
  'insert_root_key',
  `insert into root_keys (version, generation, master_key_id, wrapped, created_at) values ($1, $2, $3, $4, $5)
   on conflict do nothing`,
);
const selectRootKeys = sql<WrappedRootKey>(
  'list_root_keys',
  `select version, generation, master_key_id as "masterKeyId", wrapped, created_at as "createdAt" from root_keys
   order by version, generation`,
);

/** @returns the wrappings of all versions by all master keys; none in a database that was not initialised */
export const listRootKeys = (reader: Reader): Promise<WrappedRootKey[]> => reader.all(selectRootKeys);

/** @returns whether the row was inserted; false if another wrapping has its version and generation */
export async function insertRootKeyTx(tx: Transaction, row: WrappedRootKey): Promise<boolean> {
  const { version, generation, masterKeyId, wrapped, createdAt } = row;
  return (await tx.run(insertRootKey, [version, generation, masterKeyId, wrapped, createdAt])) === 1;
}
