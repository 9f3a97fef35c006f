/**
 * What instances have drawn of each limit. A draw takes tokens from a limit before an instance spends them, so the sum of what
 * all instances spend never exceeds it, whatever happens to an instance after the commit.
 */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect, type Statement } from '../../foundation/database/sql.ts';

export type MeterKind = 'rate' | 'quota';
export type QuotaPeriod = 'day' | 'month' | 'ever';

export interface MeterKey {
  /** The id of a key or an account. */
  readonly subject: string;
  readonly kind: MeterKind;
}

/** What is drawn of a limit. */
export interface MeterRow extends MeterKey {
  /** Of a rate: the theoretical arrival time of the generic cell rate algorithm, in microseconds. */
  readonly tat: number;
  /** Of a quota: what is drawn in the period. */
  readonly used: number;
  readonly period: string;
}

/** What is drawn of a quota in a period. `quotaUse` of `quota-use.ts` compares the period with the current one. */
export type QuotaUseRow = Pick<MeterRow, 'subject' | 'used' | 'period'>;

// In the order of the key, so that two transactions lock the rows that they share in the same order.
const insertMissing = sql('insert_key_meters', {
  sqlite: `insert into key_meters (subject, kind)
   select value ->> '$.subject', value ->> '$.kind' from json_each($1) where true on conflict do nothing`,
  postgres: `insert into key_meters (subject, kind)
   select subject, kind from json_to_recordset($1::json) as w (subject text, kind text)
   order by subject, kind on conflict do nothing`,
});
// `for update` reads each row in its state after the wait for its lock. SQLite runs one transaction at a time.
const lockMeters = sql<MeterRow>('lock_key_meters', {
  sqlite: `select m.subject, m.kind, m.tat, m.used, m.period
   from json_each($1) w cross join key_meters m on m.subject = w.value ->> '$.subject' and m.kind = w.value ->> '$.kind'`,
  postgres: `select m.subject, m.kind, m.tat, m.used, m.period
   from json_to_recordset($1::json) as w (subject text, kind text)
     join key_meters m on m.subject = w.subject and m.kind = w.kind
   order by m.subject, m.kind for update of m`,
});
const databaseMicros = sql<{ now: number }>(
  'database_micros',
  'select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now',
);
const saveMeters = sql('save_key_meters', {
  sqlite: `update key_meters set tat = w.value ->> '$.tat', used = w.value ->> '$.used', period = w.value ->> '$.period'
   from json_each($1) w where subject = w.value ->> '$.subject' and kind = w.value ->> '$.kind'`,
  postgres: `update key_meters m set tat = w.tat, used = w.used, period = w.period
   from json_to_recordset($1::json) as w (subject text, kind text, tat bigint, used bigint, period text)
   where m.subject = w.subject and m.kind = w.kind`,
});
const selectQuotaUses = sql<QuotaUseRow>(
  'select_quota_uses',
  onList(`select subject, used, period from key_meters where kind = 'quota' and subject in ({ids})`),
);

export interface LockedMeters {
  readonly rows: readonly MeterRow[];
  /** By the clock of the database, after the locks: microseconds since 1970. Undefined on SQLite. */
  readonly now: number | undefined;
}

/**
 * Locks the rows of limits until the transaction ends, and creates those that do not exist.
 * @param missing limits whose rows may not exist yet
 */
export async function lockMetersTx(
  tx: Transaction,
  dialect: Dialect,
  meters: readonly MeterKey[],
  missing: readonly MeterKey[],
): Promise<LockedMeters> {
  const wanted = JSON.stringify(meters);
  const lock = async (created: string | undefined): Promise<LockedMeters> => {
    const [, rows, clock] = await allInOrder([
      created === undefined ? 0 : tx.run(insertMissing, [created]),
      tx.all(lockMeters, [wanted]),
      dialect === 'postgres' ? tx.get(databaseMicros) : undefined,
    ]);
    return { rows, now: clock?.now };
  };
  const locked = await lock(missing.length > 0 ? JSON.stringify(missing) : undefined);
  // A row that this instance has used before was deleted.
  return locked.rows.length === meters.length ? locked : lock(wanted);
}

/** Writes rows that {@link lockMetersTx} has locked, together with the commit. */
export function saveMetersTx(tx: Transaction, rows: readonly MeterRow[]): void {
  if (rows.length > 0) tx.enqueue(saveMeters, [JSON.stringify(rows)]);
}

/** What is drawn of quotas, by the ids of keys and accounts. An id without a row has drawn nothing. */
export const readQuotaUses = async (
  reader: Reader,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, QuotaUseRow>> =>
  new Map((await reader.all(selectQuotaUses, [JSON.stringify(subjects)])).map((row) => [row.subject, row]));

const listOrphans: Statement<{ subject: string; kind: string }> = sql('list_orphaned_key_meters', {
  sqlite: `select subject, kind from key_meters m
   where not exists (select 1 from accounts a where a.id = m.subject)
     and not exists (select 1 from api_keys k where k.id = cast(m.subject as integer) and m.subject glob '[0-9]*') limit $1`,
  postgres: `select subject, kind from key_meters m
   where not exists (select 1 from accounts a where a.id = m.subject)
     and not exists (select 1 from api_keys k where m.subject ~ '^[0-9]+$' and k.id::text = m.subject) limit $1`,
});
const deleteMeters = sql('delete_key_meters', {
  sqlite: `delete from key_meters where (subject, kind) in
     (select value ->> '$.subject', value ->> '$.kind' from json_each($1))`,
  postgres: `delete from key_meters where (subject, kind) in
     (select subject, kind from json_to_recordset($1::json) as w (subject text, kind text))`,
});

/** Deletes rows of deleted keys and accounts, at most `count`. @returns how many */
export async function deleteOrphanedMetersTx(tx: Transaction, count: number): Promise<number> {
  const orphans = await tx.all(listOrphans, [count]);
  return orphans.length === 0 ? 0 : tx.run(deleteMeters, [JSON.stringify(orphans)]);
}
