/** The used-up quotas that have their audit event, so that each gets one in a period. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Transaction } from '../../foundation/database/db.ts';
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
// Periods of one kind, day or month, have the same length and sort by time.
const removeEarlier = (list: string): string => `delete from quota_notices where (subject, period, quantity) in (
     select n.subject, n.period, n.quantity
     from (${list}) as noted join quota_notices n on n.subject = noted.subject
       and length(n.period) = length(noted.period) and n.period < noted.period)`;
const deleteEarlier = sql('delete_earlier_quota_notices', {
  sqlite: removeEarlier(given.sqlite),
  postgres: removeEarlier(given.postgres),
});
/**
 * A limit that is changed often leaves a row for each value. Without a bound, the owner could store any number of rows; without
 * these rows, changing a limit back would publish its event again.
 */
const noticesPerSubject = 8;
const removeExcess = (list: string): string => `delete from quota_notices where (subject, period, quantity) in (
     select subject, period, quantity from (
       select subject, period, quantity, row_number() over (partition by subject order by quantity desc, period) as place
       from quota_notices where subject in (select subject from (${list}) as noted)) as placed
     where place > ${noticesPerSubject})
   and (subject, period, quantity) not in (select subject, period, quantity from (${list}) as noted)`;
const deleteExcess = sql('delete_excess_quota_notices', {
  sqlite: removeExcess(given.sqlite),
  postgres: removeExcess(given.postgres),
});
const deleteOrphans = sql(
  'delete_orphaned_quota_notices',
  onList(`delete from quota_notices where subject in ({ids})
     and not exists (select 1 from key_meters m where m.subject = quota_notices.subject and m.kind = 'quota')`),
);

/** Stores notices, and deletes those of earlier periods and of too many limits. @returns those that no instance has stored before */
export async function storeNoticesTx(tx: Transaction, notices: readonly QuotaNotice[]): Promise<QuotaNotice[]> {
  const list = JSON.stringify(notices);
  const stored = await tx.all(insertNotices, [list]);
  if (stored.length > 0) await allInOrder([tx.run(deleteEarlier, [list]), tx.run(deleteExcess, [list])]);
  return stored;
}

/** Deletes the notices of subjects whose meters have been deleted. */
export const deleteOrphanedNoticesTx = (tx: Transaction, subjects: readonly string[]): void =>
  tx.enqueue(deleteOrphans, [JSON.stringify(subjects)]);
