/** The keys that expire on a day, in the order of their accounts, and the progress of the notices. */
import { dayMs } from '../../foundation/clock.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { databaseTime, sql } from '../../foundation/database/sql.ts';

/** The progress of one notice. */
export interface NoticeProgress {
  /** The day of expiry that is processed next: days since 1970 in UTC. */
  readonly day: number;
  /** The last processed key of the day, in the order of accounts; 0: none. */
  readonly accountPk: number;
  readonly keyId: number;
}

export interface ExpiringKeyRow {
  readonly id: number;
  readonly nickname: string;
  readonly hint: string | null;
  readonly expiresAt: number;
  readonly accountPk: number;
  readonly accountId: string;
}

const selectTime = sql<{ at: number | null }>('select_time_of_expiry_notices', {
  sqlite: `select ${databaseTime.sqlite} as at`,
  postgres: `select ${databaseTime.postgres} as at`,
});
const insertProgress = sql(
  'insert_expiry_notice_progress',
  `insert into expiry_notices (days, day, account_pk, key_id) values ($1, $2, 0, 0) on conflict (days) do nothing`,
);
const columns = `select day, account_pk as "accountPk", key_id as "keyId" from expiry_notices where days = $1`;
const selectProgress = sql<NoticeProgress>('select_expiry_notice_progress', columns);
const lockProgress = sql<NoticeProgress>('lock_expiry_notice_progress', {
  sqlite: columns,
  postgres: `${columns} for update`,
});
const updateProgress = sql(
  'update_expiry_notice_progress',
  `update expiry_notices set day = $2, account_pk = $3, key_id = $4 where days = $1`,
);
// $1: the day of expiry; $2: the current time; $3: the time from the notice to the expiry. A key that was created within this
// time gets no notice: its owner has just chosen the expiry.
const expiring = `from api_keys k join accounts a on a.pk = k.account_pk
   where k.expires_at is not null and k.expires_at / ${dayMs} = $1 and k.expires_at > $2 and k.created_at < k.expires_at - $3
     and k.disabled_at is null and a.disabled_at is null`;
const selectExpiring = sql<ExpiringKeyRow>(
  'select_expiring_api_keys',
  `select k.id, k.nickname, k.hint, k.expires_at as "expiresAt", a.pk as "accountPk", a.id as "accountId"
   ${expiring} and (k.account_pk, k.id) > ($4, $5) order by k.account_pk, k.id limit $6`,
);
const countExpiring = sql<{ count: number }>(
  'count_expiring_api_keys',
  `select count(*) as count ${expiring} and k.account_pk = $4`,
);

/** @returns milliseconds; null on SQLite */
export const readDatabaseTime = async (reader: Reader): Promise<number | null> =>
  (await reader.get(selectTime))?.at ?? null;

/** @returns undefined before the first notice */
export const findProgress = (reader: Reader, days: number): Promise<NoticeProgress | undefined> =>
  reader.get(selectProgress, [days]);

/** Locks the progress of a notice until the end of the transaction. @param firstDay the first day, if there is no progress */
export async function lockProgressTx(tx: Transaction, days: number, firstDay: number): Promise<NoticeProgress> {
  const [, row] = await allInOrder([tx.run(insertProgress, [days, firstDay]), tx.get(lockProgress, [days])]);
  return row ?? { day: firstDay, accountPk: 0, keyId: 0 };
}

export const storeProgressTx = (tx: Transaction, days: number, { day, accountPk, keyId }: NoticeProgress): void =>
  tx.enqueue(updateProgress, [days, day, accountPk, keyId]);

export interface ExpiringKeys {
  readonly now: number;
  /** From the notice to the expiry. */
  readonly noticeMs: number;
}

/** The next keys after the progress that expire on its day, at most `max`. */
export const listExpiringTx = (
  tx: Transaction,
  { day, accountPk, keyId }: NoticeProgress,
  { now, noticeMs }: ExpiringKeys,
  max: number,
): Promise<ExpiringKeyRow[]> => tx.all(selectExpiring, [day, now, noticeMs, accountPk, keyId, max]);

/** The number of an account's keys that expire on the day. */
export const countExpiringTx = async (
  tx: Transaction,
  day: number,
  { now, noticeMs }: ExpiringKeys,
  accountPk: number,
): Promise<number> => (await tx.get(countExpiring, [day, now, noticeMs, accountPk]))?.count ?? 0;
