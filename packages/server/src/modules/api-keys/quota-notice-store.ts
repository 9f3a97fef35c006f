/** The quotas of keys and accounts whose end was recorded, so that each is recorded once in a period. */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

/** One quota in one period. */
export interface QuotaNotice {
  /** The id of a key or an account. */
  readonly subject: string;
  /** As in `key_meters`. */
  readonly period: string;
  readonly quantity: number;
}

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
const given = {
  sqlite: `select value ->> '$.subject' as subject, value ->> '$.period' as period, value ->> '$.quantity' as quantity
   from json_each($1) where true`,
  // The order prevents deadlocks.
  postgres: `select subject, period, quantity
   from json_to_recordset($1::json) as given (subject text, period text, quantity bigint)
   order by subject, period, quantity`,
};
const insert = (list: string): string => `insert into quota_notices (subject, period, quantity) ${list}
   on conflict do nothing returning subject, period, quantity`;
const insertNotices = sql<QuotaNotice>('insert_quota_notices', {
  sqlite: insert(given.sqlite),
  postgres: insert(given.postgres),
});
// Periods of one kind sort by time.
const removeEarlier = (list: string): string => `delete from quota_notices where exists (
     select 1 from (${list}) as noted where noted.subject = quota_notices.subject and noted.period > quota_notices.period)`;
const deleteEarlier = sql('delete_earlier_quota_notices', {
  sqlite: removeEarlier(given.sqlite),
  postgres: removeEarlier(given.postgres),
});
const deleteOrphans = sql(
  'delete_orphaned_quota_notices',
  `delete from quota_notices where subject in (
     select n.subject from quota_notices n
     where not exists (select 1 from key_meters m where m.subject = n.subject and m.kind = 'quota') limit $1)`,
);

export const findNotedKeys = (tx: Transaction, ids: readonly number[]): Promise<NotedKey[]> =>
  tx.all(selectKeys, [JSON.stringify(ids)]);

export const findNotedAccounts = async (tx: Transaction, ids: readonly string[]): Promise<string[]> =>
  (await tx.all(selectAccounts, [JSON.stringify(ids)])).map(({ id }) => id);

/** Stores notices, and deletes those of earlier periods. @returns those that no instance has stored before */
export async function storeNoticesTx(tx: Transaction, notices: readonly QuotaNotice[]): Promise<QuotaNotice[]> {
  const list = JSON.stringify(notices);
  const stored = await tx.all(insertNotices, [list]);
  if (stored.length > 0) await tx.run(deleteEarlier, [list]);
  return stored;
}

/** Deletes notices of deleted keys and accounts, whose meters have been deleted. @returns the number of deleted notices */
export const deleteOrphanedNotices = (db: Db, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOrphans, [rowsMax]));
