/** The keys and accounts of used-up quotas. */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface NotedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
}

const selectKeys = sql<NotedKey>(
  'select_keys_of_quota_notices',
  onList(`select k.id, a.id as "accountId", k.nickname
   from api_keys k join accounts a on a.pk = k.account_pk where k.id in ({numbers})`),
);
const selectAccounts = sql<{ id: string }>(
  'select_accounts_of_quota_notices',
  onList('select id from accounts where id in ({ids})'),
);

export const findNotedKeys = (tx: Transaction, ids: readonly number[]): Promise<NotedKey[]> =>
  tx.all(selectKeys, [JSON.stringify(ids)]);

export const findNotedAccounts = async (tx: Transaction, ids: readonly string[]): Promise<string[]> =>
  (await tx.all(selectAccounts, [JSON.stringify(ids)])).map(({ id }) => id);
