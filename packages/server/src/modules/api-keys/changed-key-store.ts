/** Keys that were created, changed or rotated lately, and where they were used since. */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A key that was created, changed or rotated, and where it was used since. */
export interface ChangedKeyUse {
  readonly id: number;
  /** Milliseconds. */
  readonly changedAt: number;
  /** Client IP ranges, separated by spaces. */
  readonly usedFrom: string | null;
}

const listChangedKeys = sql<ChangedKeyUse>(
  'list_changed_api_keys',
  `select id, updated_at as "changedAt", used_from as "usedFrom" from api_keys
   where account_pk = (select pk from accounts where id = $1) and updated_at >= $2`,
);

/** @param since milliseconds */
export const listKeysChangedSince = (
  reader: Pick<Db, 'all'> | Transaction,
  accountId: string,
  since: number,
): Promise<ChangedKeyUse[]> => reader.all(listChangedKeys, [accountId, since]);
