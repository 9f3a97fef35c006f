/** Keys that were created, changed or rotated lately. */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A key that was created, changed or rotated. */
export interface ChangedKey {
  readonly id: number;
  /** Milliseconds. */
  readonly changedAt: number;
}

const listChangedKeys = sql<ChangedKey>(
  'list_changed_api_keys',
  `select id, updated_at as "changedAt" from api_keys
   where account_pk = (select pk from accounts where id = $1) and updated_at >= $2`,
);

/** @param since milliseconds */
export const listKeysChangedSince = (
  reader: Pick<Db, 'all'> | Transaction,
  accountId: string,
  since: number,
): Promise<ChangedKey[]> => reader.all(listChangedKeys, [accountId, since]);
