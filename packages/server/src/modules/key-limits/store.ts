/**
 * What instances have drawn of each limit. A draw takes tokens from a limit before an instance spends them, so the sum of what
 * all instances spend never exceeds it, whatever happens to an instance after the commit.
 */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { deleteOrphanedNoticesTx } from './quota-notice-store.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';

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

// $1: a JSON array of limits: [subject, kind, tat, used, period]. SQLite needs a third of the time for arrays that it needs
// for objects. In the order of the key, so that two transactions lock the rows that they share in the same order.
const insertMissing = sql('insert_key_meters', {
  sqlite: `insert into key_meters (subject, kind)
   select value ->> 0, value ->> 1 from json_each($1) where true on conflict do nothing`,
  postgres: `insert into key_meters (subject, kind)
   select w.value ->> 0, w.value ->> 1 from json_array_elements($1::json) as w order by 1, 2 on conflict do nothing`,
});
// `for update` reads each row in its state after the wait for its lock. SQLite runs one transaction at a time.
const lockMeters = sql<MeterRow>('lock_key_meters', {
  sqlite: `select m.subject, m.kind, m.tat, m.used, m.period
   from json_each($1) w cross join key_meters m on m.subject = w.value ->> 0 and m.kind = w.value ->> 1`,
  // A subquery with `limit` uses the primary key. For a join, PostgreSQL scans a table of 10,000 rows.
  postgres: `select m.subject, m.kind, m.tat, m.used, m.period
   from (select value ->> 0 as subject, value ->> 1 as kind from json_array_elements($1::json) order by 1, 2) as w
     cross join lateral (
       select * from key_meters where subject = w.subject and kind = w.kind limit 1 for update) as m`,
});
const databaseMicros = sql<{ now: number }>(
  'database_micros',
  'select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now',
);
const saveMeters = sql('save_key_meters', {
  sqlite: `update key_meters set tat = w.value ->> 2, used = w.value ->> 3, period = w.value ->> 4
   from json_each($1) w where subject = w.value ->> 0 and kind = w.value ->> 1`,
  // The rows exist and are locked. An `update` with a join scans the table too.
  postgres: `insert into key_meters (subject, kind, tat, used, period)
   select value ->> 0, value ->> 1, (value ->> 2)::bigint, (value ->> 3)::bigint, value ->> 4
   from json_array_elements($1::json)
   on conflict (subject, kind) do update set tat = excluded.tat, used = excluded.used, period = excluded.period`,
});

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
  const wanted = toText(meters);
  const lock = async (created: string | undefined): Promise<LockedMeters> => {
    const [, rows, clock] = await allInOrder([
      created === undefined ? 0 : tx.run(insertMissing, [created]),
      tx.all(lockMeters, [wanted]),
      dialect === 'postgres' ? tx.get(databaseMicros) : undefined,
    ]);
    return { rows, now: clock?.now };
  };
  const locked = await lock(missing.length > 0 ? toText(missing) : undefined);
  // A row that this instance has used before was deleted.
  return locked.rows.length === meters.length ? locked : lock(wanted);
}

/** Writes rows that {@link lockMetersTx} has locked, together with the commit. */
export function saveMetersTx(tx: Transaction, rows: readonly MeterRow[]): void {
  if (rows.length === 0) return;
  const values = rows.map(({ subject, kind, tat, used, period }) => [subject, kind, tat, used, period]);
  tx.enqueue(saveMeters, [JSON.stringify(values)]);
}

const toText = (meters: readonly MeterKey[]): string =>
  JSON.stringify(meters.map(({ subject, kind }) => [subject, kind]));

/** Rows of one step. A literal, because PostgreSQL does not plan for a small parameter of `limit`. */
export const metersPerStep = 500;
// The subject as the id of a key. No key has the id 0, which SQLite makes of the id of an account.
const keyIdOf: Readonly<Record<Dialect, string>> = {
  sqlite: 'cast(m.subject as integer)',
  postgres: `(case when m.subject ~ '^[0-9]{1,18}$' then m.subject::bigint end)`,
};
const isOrphan = (dialect: Dialect): string =>
  `not exists (select 1 from accounts a where a.id = m.subject)
     and not exists (select 1 from api_keys k where k.id = ${keyIdOf[dialect]})`;
const page = (dialect: Dialect): string => `select m.subject, m.kind,
     case when ${isOrphan(dialect)} then 1 else 0 end as "isOrphan"
   from key_meters m where (m.subject, m.kind) > ($1, $2) order by m.subject, m.kind limit ${metersPerStep}`;
/** Exported for the test of its query plan. */
export const selectMeters = sql<MeterKey & { readonly isOrphan: number }>('page_key_meters', {
  sqlite: page('sqlite'),
  postgres: page('postgres'),
});
const deleteOrphans = sql('delete_orphaned_key_meters', {
  sqlite: `delete from key_meters as m where (m.subject, m.kind) in
     (select value ->> 0, value ->> 1 from json_each($1)) and ${isOrphan('sqlite')}`,
  // Rows that a draw has locked are left for a later call.
  postgres: `delete from key_meters where ctid = any (array(
     select m.ctid from json_array_elements($1::json) as w
       join key_meters m on m.subject = w.value ->> 0 and m.kind = w.value ->> 1
     where ${isOrphan('postgres')} for update of m skip locked))`,
});

/** The next rows, in order, and whether the key or account of each was deleted. @param after empty texts for the first rows */
export const pageMeters = (reader: Reader, after: Readonly<Record<keyof MeterKey, string>>) =>
  reader.all(selectMeters, [after.subject, after.kind]);

/** Deletes those of the rows whose key or account does not exist, with its notices. @returns how many rows */
export const deleteOrphanedMeters = (db: Db, meters: readonly MeterKey[]): Promise<number> =>
  db.transaction((tx) => {
    const deleted = tx.run(deleteOrphans, [toText(meters)]);
    const subjects = meters.map(({ subject }) => subject);
    deleteOrphanedNoticesTx(tx, subjects);
    return deleted;
  });
