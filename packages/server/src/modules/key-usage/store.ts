/** The table of usage, which is in the second file of an embedded database: accepted and refused verifications of keys by hour and, after some days, by day. Both in UTC. */
import { dayMs } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';

export type UsageStep = 'hour' | 'day';

export interface UsageCounts {
  readonly accepted: number;
  readonly refused: number;
}

/** Verifications of one key in one hour. */
export interface HourOfKey extends UsageCounts {
  readonly keyId: number;
  /** Start of the hour, in milliseconds. */
  readonly at: number;
}

/** Verifications in one hour or day. */
export interface UsageRow extends UsageCounts {
  readonly at: number;
}

// $1: a JSON array of rows. In the order of the key, so that two transactions lock the rows that they share in the same
// order. Rows without counts have only a time of last use.
const addTo = (step: UsageStep): Readonly<Record<Dialect, string>> => {
  const insert = `insert into key_usage (step, at, key_id, accepted, refused) select '${step}',`;
  const onConflict = `on conflict (step, at, key_id) do update
     set accepted = key_usage.accepted + excluded.accepted, refused = key_usage.refused + excluded.refused`;
  return {
    sqlite: `${insert} value ->> '$.at', value ->> '$.keyId', value ->> '$.accepted', value ->> '$.refused'
     from json_each($1) where value ->> '$.accepted' > 0 or value ->> '$.refused' > 0 ${onConflict}`,
    postgres: `${insert} at, "keyId", accepted, refused
     from json_to_recordset($1::json) as given (at bigint, "keyId" bigint, accepted bigint, refused bigint)
     where accepted > 0 or refused > 0 order by at, "keyId" ${onConflict}`,
  };
};
const addHours = sql('add_hours_of_key_usage', addTo('hour'));
const addDays = sql('add_days_of_key_usage', addTo('day'));
const sums = `cast(coalesce(sum(accepted), 0) as bigint) as accepted, cast(coalesce(sum(refused), 0) as bigint) as refused`;
// SQLite has no statistics and would read all keys of the hours by the primary key. The plus sign makes it use the index of
// the keys: 216 instead of 216,000 rows for one of 1,000 keys.
const inHours = (text: string): Readonly<Record<Dialect, string>> => ({
  sqlite: text.replace('{isHour}', `+step = 'hour'`),
  postgres: text.replace('{isHour}', `step = 'hour'`),
});
const totalOfHours = sql<UsageCounts>(
  'total_of_key_usage',
  inHours(`select ${sums} from key_usage where key_id = $1 and at >= $2 and {isHour}`),
);
const selectHours = sql<UsageRow>(
  'select_hours_of_key_usage',
  inHours(
    'select at, accepted, refused from key_usage where key_id = $1 and at >= $2 and at < $3 and {isHour} order by at',
  ),
);
// The day itself, and its hours that are not folded yet.
const selectDays = sql<UsageRow>(
  'select_days_of_key_usage',
  `select at - at % ${dayMs} as at, ${sums} from key_usage where key_id = $1 and at >= $2 and at < $3 group by 1 order by 1`,
);
// For each key, the rows since a time, by the index of the keys.
const daysOfKeys = `u.key_id as "keyId", u.at - u.at % ${dayMs} as at, cast(sum(u.accepted) as bigint) as accepted,
   cast(sum(u.refused) as bigint) as refused`;
const selectDaysOfKeys = sql<HourOfKey>('select_days_of_keys', {
  sqlite: `select ${daysOfKeys} from json_each($1) given cross join key_usage u on u.key_id = given.value
     where u.at >= $2 group by 1, 2`,
  postgres: `select ${daysOfKeys} from key_usage u
     where u.key_id = any (array(select value::bigint from json_array_elements_text($1::json))) and u.at >= $2 group by 1, 2`,
});
// Deletes at most $1 rows. On PostgreSQL, rows that another transaction changes or deletes are left for a later call, and the
// rows are found by their places, because the plan does not depend on how small $1 is.
const deleteSome = (where: string, returned = ''): Readonly<Record<Dialect, string>> => ({
  sqlite: `delete from key_usage where (step, at, key_id) in (
     select step, at, key_id from key_usage where ${where} limit $1)${returned}`,
  postgres: `delete from key_usage where ctid = any (array(
     select ctid from key_usage where ${where} limit $1 for update skip locked))${returned}`,
});
// Only the earliest hour or day: PostgreSQL could read and sort all earlier rows for each call.
const earliest = (step: string, before: string): string =>
  `step = ${step} and at = (select min(at) from key_usage where step = ${step} and at < ${before})`;
const takeHours = sql<HourOfKey>(
  'take_hours_of_key_usage',
  deleteSome(earliest(`'hour'`, '$2'), ' returning key_id as "keyId", at, accepted, refused'),
);
const deleteOld = sql('delete_old_key_usage', deleteSome(earliest('$2', '$3')));
const deleteOfKey = sql('delete_usage_of_key', deleteSome(`key_id = $2`));
// Finds each key by its first row, without a read of its other rows.
const pageKeys = sql<{ id: number }>(
  'page_keys_with_usage',
  `with recursive used (id, n) as (
     select min(key_id), 1 from key_usage where key_id > $1
     union all
     select (select min(key_id) from key_usage where key_id > used.id), n + 1 from used where used.id is not null and n < $2)
   select id from used where id is not null order by id`,
);
const pageLastUses = sql<{ id: number }>(
  'page_keys_with_last_use',
  'select key_id as id from key_last_uses where key_id > $1 order by key_id limit $2',
);
const selectKeys = sql<{ id: number }>(
  'select_keys_with_usage',
  onList('select id from api_keys where id in ({numbers})'),
);

/** Adds to the counts of hours. @param hours JSON of an array of {@link HourOfKey} in the order of their ids */
export const addHoursTx = async (tx: Transaction, hours: string): Promise<void> =>
  void (await tx.run(addHours, [hours]));

/** @param since milliseconds; hours that start earlier are left out */
export const totalSince = async (reader: Reader, keyId: number, since: number): Promise<UsageCounts> =>
  (await reader.get(totalOfHours, [keyId, since])) ?? { accepted: 0, refused: 0 };

/**
 * The hours or days of a key that have verifications, in order.
 * @param period.from inclusive, a multiple of the step in milliseconds
 * @param period.to exclusive, likewise
 */
export const listUsage = (
  reader: Reader,
  keyId: number,
  { step, from, to }: { readonly step: UsageStep; readonly from: number; readonly to: number },
): Promise<UsageRow[]> => reader.all(step === 'hour' ? selectHours : selectDays, [keyId, from, to]);

/** The days of keys that have verifications. @param since the start of a day, in milliseconds */
export const listDaysOfKeys = (reader: Reader, ids: readonly number[], since: number): Promise<HourOfKey[]> =>
  reader.all(selectDaysOfKeys, [JSON.stringify(ids), since]);

/**
 * Adds rows of the earliest hour to their days. An hour in which keys are counted later is added again by a later call.
 * @param before hours that start at this time or later stay; milliseconds
 * @returns the number of rows that were added, at most `rowsMax`; 0 when none is left
 */
export const foldHours = (db: Pick<Db, 'usage'>, before: number, rowsMax: number): Promise<number> =>
  db.usage.transaction(async (tx) => {
    const hours = await tx.all(takeHours, [rowsMax, before]);
    // All rows are of one hour, so each key occurs once.
    const days = hours.map((row) => ({ ...row, at: row.at - (row.at % dayMs) }));
    if (days.length > 0) await tx.run(addDays, [JSON.stringify(days)]);
    return hours.length;
  });

/**
 * Deletes rows of the earliest hour or day.
 * @param before rows that start at this time or later stay; milliseconds
 * @returns the number of deleted rows, at most `rowsMax`; 0 when none is left
 */
export const deleteUsage = (db: Pick<Db, 'usage'>, step: UsageStep, before: number, rowsMax: number): Promise<number> =>
  db.usage.transaction((tx) => tx.run(deleteOld, [rowsMax, step, before]));

/** @returns the number of deleted rows */
export const deleteUsageOfKey = (db: Pick<Db, 'usage'>, keyId: number, rowsMax: number): Promise<number> =>
  db.usage.transaction((tx) => tx.run(deleteOfKey, [rowsMax, keyId]));

/** The next keys with usage, or with a last use, in the order of their ids. @param after an id, 0 for the first */
export const pageKeysWithUsage = async (
  reader: Reader,
  kind: 'usage' | 'last uses',
  after: number,
  keysMax: number,
): Promise<readonly number[]> =>
  (await reader.all(kind === 'usage' ? pageKeys : pageLastUses, [after, keysMax])).map(({ id }) => id);

/** Those of the keys that do not exist. The ids were read before, so they are of deleted keys. */
export async function deletedOf(db: Pick<Db, 'all'>, ids: readonly number[]): Promise<readonly number[]> {
  const rows = ids.length === 0 ? [] : await db.all(selectKeys, [JSON.stringify(ids)]);
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
