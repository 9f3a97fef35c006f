/** SQL that estimates numbers of rows. Each statement reads a bounded number of them. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql, type Statement } from '../../foundation/database/sql.ts';

/** Rows that a statement reads at most. */
export const rowsPerReadMax = 10_000;

export type CountedTable = 'accounts' | 'api_keys' | 'sessions';

export interface CountedRows {
  readonly count: number;
  /** Sessions of the console among them. */
  readonly ofConsole: number;
  /** The greatest key among them; null without rows. */
  readonly last: number | string | null;
}

const nextAccounts = sql<CountedRows>(
  'count_next_accounts',
  `select count(*) as count, 0 as "ofConsole", max(pk) as last
   from (select pk from accounts where pk > $1 order by pk limit ${rowsPerReadMax}) as next`,
);
const nextKeys = sql<CountedRows>(
  'count_next_api_keys',
  `select count(*) as count, 0 as "ofConsole", max(id) as last
   from (select id from api_keys where id > $1 order by id limit ${rowsPerReadMax}) as next`,
);
const nextSessions = sql<CountedRows>(
  'count_next_sessions',
  `select count(*) as count, count(case when kind = 'console' then 1 end) as "ofConsole", max(id) as last
   from (select id, kind from sessions where id > $1 order by id limit ${rowsPerReadMax}) as next`,
);
const nextRows: Readonly<Record<CountedTable, Statement<CountedRows>>> = {
  accounts: nextAccounts,
  api_keys: nextKeys,
  sessions: nextSessions,
};
// The number that the last vacuum or analyze found; negative before the first one. Only on PostgreSQL.
const estimatedRows = sql<{ count: number }>(
  'estimate_rows',
  'select reltuples::bigint as count from pg_class where oid = $1::text::regclass',
);

/** Counts the next rows in the order of their keys. @param after the last key of the rows before */
export async function countNext(reader: Reader, table: CountedTable, after: number | string): Promise<CountedRows> {
  return (await reader.get(nextRows[table], [after])) ?? { count: 0, ofConsole: 0, last: null };
}

/** What PostgreSQL estimates. */
export const estimateRows = async (reader: Reader, table: CountedTable): Promise<number> =>
  (await reader.get(estimatedRows, [table]))?.count ?? 0;
