/**
 * Rows that began while a clock was ahead. They count as ended after the correction, but without a deletion they would be valid again
 * when the real time reaches their time.
 */
import { aheadMsMax, type Clock } from '../clock.ts';
import { databaseTime, type Dialect, type SqlValue } from './sql.ts';

// A row must be ahead of both clocks: an instance whose clock is behind would otherwise delete valid rows of the others. The subquery is
// evaluated once.
const latest = (dialect: Dialect): string =>
  `(select case when $2 = 1 and ${databaseTime[dialect]} > $1 then ${databaseTime[dialect]} else $1 end)`;

/** SQL: whether a row began while a clock was ahead. `$1` and `$2` are {@link aheadTimes}. */
export const isAhead = (dialect: Dialect): string => `created_at - ${aheadMsMax} > ${latest(dialect)}`;

/** $1: the time of the process; $2: 1 if the time of a PostgreSQL database counts as well. */
export const aheadTimes = (clock: Clock): SqlValue[] => [clock.now(), clock.isSystem === true ? 1 : 0];

/** Deletes at most `$3` rows that are ahead. The table has an index on `expires_at`. */
export function deleteAheadText(table: string): Readonly<Record<Dialect, string>> {
  const text = (dialect: Dialect): string => `delete from ${table} where id in (
     select id from ${table} where expires_at > ${latest(dialect)} + ${aheadMsMax} and ${isAhead(dialect)} limit $3)`;
  return { sqlite: text('sqlite'), postgres: text('postgres') };
}
