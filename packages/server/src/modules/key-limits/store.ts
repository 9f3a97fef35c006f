/**
 * What instances have drawn of each limit. A draw takes tokens from a limit before an instance spends them, so the sum of what
 * all instances spend never exceeds it, whatever happens to an instance after the commit.
 */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql, type Statement } from '../../foundation/database/sql.ts';

export type MeterKind = 'rate' | 'quota';
export type QuotaPeriod = 'day' | 'month' | 'ever';

/** What an instance wants of a limit. */
export interface WantedDraw {
  /** The id of a key or an account. */
  readonly subject: string;
  readonly kind: MeterKind;
  /** Tokens that the limit gives per window or period. */
  readonly quantity: number;
  /** Tokens of the full bucket; for a quota, the same as `quantity`. */
  readonly capacity: number;
  /** Of a rate, in microseconds. */
  readonly windowMicros: number;
  /** The time in which the empty bucket fills, in microseconds. */
  readonly toleranceMicros: number;
  readonly per: QuotaPeriod;
  /** For the verifications that wait. */
  readonly want: number;
  /** For the smallest of them; if fewer are left, none are granted. */
  readonly smallest: number;
  /** For later verifications; not granted if less than a tenth of the capacity is left. */
  readonly forecast: number;
}

export interface Draw {
  readonly subject: string;
  readonly kind: MeterKind;
  readonly granted: number;
  /** After the draw. */
  readonly tat: number;
  readonly used: number;
  /** When the draw was made, in microseconds since 1970, by the clock that all instances share. */
  readonly drawnAt: number;
}

/** What is drawn of a quota in a period. `quotaUse` of `quota-use.ts` compares the period with the current one. */
export interface QuotaUseRow {
  /** The id of a key or an account. */
  readonly subject: string;
  readonly used: number;
  readonly period: string;
}

// Products of these integers are at most 10^6 tokens · 8.64·10^10 µs, so they fit into 64 bits. Divisions round in favour of
// the limit: tokens down, times up. $1: a JSON array of WantedDraw; $2: milliseconds since 1970, null for the clock of the
// database.
const computed = {
  drawn: (sqlMin: string) => `drawn as materialized (
     select *, case when room < smallest then 0
       else ${sqlMin}(room, want + case when room * 10 >= capacity then forecast else 0 end) end as granted_now
     from roomy)`,
  roomy: (sqlMin: string, sqlMax: string) => `roomy as materialized (
     select *, case kind when 'rate' then ${sqlMin}(capacity, ${sqlMax}(0, (now + tolerance - base) * quantity / window_micros))
       else ${sqlMax}(0, quantity - spent) end as room
     from state)`,
};
const update = `update key_meters set
     tat = case when d.kind = 'rate' and d.granted_now > 0
       then d.base + (d.granted_now * d.window_micros + d.quantity - 1) / d.quantity else key_meters.tat end,
     used = case when d.kind = 'quota' then d.spent + d.granted_now else key_meters.used end,
     period = d.period, granted = d.granted_now, drawn_at = d.now
   from drawn d where key_meters.subject = d.subject and key_meters.kind = d.kind
   returning key_meters.subject, key_meters.kind, key_meters.granted, key_meters.tat, key_meters.used,
     key_meters.drawn_at as "drawnAt"`;
const drawTokens = sql<Draw>('draw_tokens', {
  // Without `materialized`, SQLite computes an expression again for each use of its name: 41 instead of 11 µs for each limit.
  sqlite: `with wanted as materialized (
     select value ->> '$.subject' as subject, value ->> '$.kind' as kind, value ->> '$.quantity' as quantity,
       value ->> '$.capacity' as capacity, value ->> '$.windowMicros' as window_micros,
       value ->> '$.toleranceMicros' as tolerance, value ->> '$.want' as want, value ->> '$.smallest' as smallest,
       value ->> '$.forecast' as forecast, cast($2 as integer) * 1000 as now,
       case value ->> '$.per' when 'day' then strftime('%Y-%m-%d', $2 / 1000, 'unixepoch')
         when 'month' then strftime('%Y-%m', $2 / 1000, 'unixepoch') else 'ever' end as period
     from json_each($1)),
   state as materialized (
     select w.*, max(m.tat, w.now) as base, case when m.period = w.period then m.used else 0 end as spent
     from wanted w cross join key_meters m on m.subject = w.subject and m.kind = w.kind),
   ${computed.roomy('min', 'max')}, ${computed.drawn('min')}
   ${update}`,
  // `for update` reads each row in its state after the wait for its lock. The order prevents deadlocks.
  postgres: `with moment as materialized (
     select coalesce($2::bigint * 1000, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as now),
   wanted as materialized (
     select w.*, moment.now, to_char(to_timestamp(moment.now / 1000000.0) at time zone 'UTC',
       case w.per when 'day' then 'YYYY-MM-DD' when 'month' then 'YYYY-MM' else '"ever"' end) as period
     from moment, json_to_recordset($1::json) as w (subject text, kind text, quantity bigint, capacity bigint,
       "windowMicros" bigint, "toleranceMicros" bigint, per text, want bigint, smallest bigint, forecast bigint)),
   state as materialized (
     select w.*, w."windowMicros" as window_micros, w."toleranceMicros" as tolerance, greatest(m.tat, w.now) as base,
       case when m.period = w.period then m.used else 0 end as spent
     from wanted w join key_meters m on m.subject = w.subject and m.kind = w.kind
     order by m.subject, m.kind for update of m),
   ${computed.roomy('least', 'greatest')}, ${computed.drawn('least')}
   ${update}`,
});
const selectQuotaUses = sql<QuotaUseRow>(
  'select_quota_uses',
  onList(`select subject, used, period from key_meters where kind = 'quota' and subject in ({ids})`),
);
const insertMissing = sql('insert_key_meters', {
  sqlite: `insert into key_meters (subject, kind)
   select value ->> '$.subject', value ->> '$.kind' from json_each($1) where true on conflict do nothing`,
  postgres: `insert into key_meters (subject, kind)
   select subject, kind from json_to_recordset($1::json) as w (subject text, kind text)
   order by subject, kind on conflict do nothing`,
});
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

/**
 * Draws tokens of several limits in one commit. A limit whose row does not exist has no result, unless it is in `missing`.
 * @param missing limits whose rows may not exist yet
 * @param now milliseconds since 1970; undefined for the clock of the database
 */
export const drawTokensFrom = (
  db: Db,
  wanted: readonly WantedDraw[],
  missing: readonly Pick<WantedDraw, 'subject' | 'kind'>[],
  now: number | undefined,
): Promise<Draw[]> =>
  db.transaction(async (tx) => {
    const [, draws] = await allInOrder([
      missing.length > 0 ? tx.run(insertMissing, [JSON.stringify(missing)]) : 0,
      tx.all(drawTokens, [JSON.stringify(wanted), now ?? null]),
    ]);
    return draws;
  });

/** What is drawn of quotas, by the ids of keys and accounts. An id without a row has drawn nothing. */
export const readQuotaUses = async (
  reader: Reader,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, QuotaUseRow>> =>
  new Map((await reader.all(selectQuotaUses, [JSON.stringify(subjects)])).map((row) => [row.subject, row]));

/** Deletes rows of deleted keys and accounts, at most `count`. @returns how many */
export async function deleteOrphanedMetersTx(tx: Transaction, count: number): Promise<number> {
  const orphans = await tx.all(listOrphans, [count]);
  return orphans.length === 0 ? 0 : tx.run(deleteMeters, [JSON.stringify(orphans)]);
}
