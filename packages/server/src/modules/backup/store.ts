/**
 * Reads whole tables page by page, writes rows in batches, and clears tables. Bytes are hexadecimal text outside the
 * database.
 */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql, type Dialect, type SqlValue, type Statement } from '../../foundation/database/sql.ts';
import type { Counts, Row, Table } from './table.ts';
import { tables } from './tables.ts';

/** Bounds the memory of a page, and spreads the cost of its statement over many rows. */
const rowsPerPage = 500;

/** Selects rows after a key, ordered by key. */
function pageOf({ name, key, columns }: Table): Record<Dialect, string> {
  const keys = keysOf(key);
  const list = (hex: (column: string) => string): string =>
    Object.entries(columns)
      .map(([column, kind]) => (kind === 'bytes' ? `${hex(column)} as ${column}` : column))
      .join(', ');
  const order = keys.map((column) => `${name}.${column}`).join(', ');
  const after = keys.map((_, index) => `$${index + 1}`).join(', ');
  const rest = `from ${name} where (${order}) > (${after}) order by ${order} limit $${keys.length + 1}`;
  return {
    // SQLite returns empty text for the hexadecimal form of null.
    sqlite: `select ${list((column) => `iif(${column} is null, null, lower(hex(${column})))`)} ${rest}`,
    postgres: `select ${list((column) => `encode(${column}, 'hex')`)} ${rest}`,
  };
}

const keysOf = (key: Table['key']): readonly string[] => (typeof key === 'string' ? [key] : key);

/** Inserts the rows of one JSON array. */
function insertOf({ name, columns }: Table): Record<Dialect, string> {
  const names = Object.keys(columns).join(', ');
  const list = (value: (column: string) => string, bytes: (text: string) => string): string =>
    Object.entries(columns)
      .map(([column, kind]) => (kind === 'bytes' ? bytes(value(column)) : value(column)))
      .join(', ');
  const types = Object.entries(columns)
    .map(([column, kind]) => `${column} ${kind === 'integer' ? 'bigint' : 'text'}`)
    .join(', ');
  return {
    sqlite: `insert into ${name} (${names})
      select ${list(
        (column) => `value ->> '$.${column}'`,
        (text) => `unhex(${text})`,
      )} from json_each($1)`,
    postgres: `insert into ${name} (${names})
      select ${list(
        (column) => column,
        (text) => `decode(${text}, 'hex')`,
      )} from json_to_recordset($1::json) as given (${types})`,
  };
}

export interface StoredTable extends Table {
  readonly page: Statement<Row>;
  readonly insert: Statement<never>;
  readonly size: Statement<{ count: number }>;
  readonly clear: Statement<never>;
}

/** In the order in which rows are written. */
export const storedTables: readonly StoredTable[] = tables.map((table) => ({
  ...table,
  page: sql<Row>(`page_${table.name}`, pageOf(table)),
  insert: sql(`load_${table.name}`, insertOf(table)),
  size: sql<{ count: number }>(`size_${table.name}`, `select count(*) as count from ${table.name}`),
  clear: sql(`clear_${table.name}`, `delete from ${table.name}`),
}));

/** The tables of one file of an embedded database. On PostgreSQL, the database has all tables. */
export const tablesIn = (dialect: Dialect, file: 'main' | 'usage'): readonly StoredTable[] =>
  storedTables.filter(({ isUsage = false }) => dialect === 'postgres' || isUsage === (file === 'usage'));

/** Yields all rows of a table in pages of at most {@link rowsPerPage} rows, none of them empty. */
export async function* pagesOf(reader: Reader, { key, columns, page }: StoredTable): AsyncGenerator<Row[]> {
  const keys = keysOf(key);
  const kinds = keys.map((column) => columns[column]);
  let after: SqlValue[] = kinds.map((kind) => (kind === 'integer' ? -1 : kind === 'bytes' ? Uint8Array.of(0) : ''));
  for (;;) {
    const rows: Row[] = await reader.all(page, [...after, rowsPerPage]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = keys.map((column, index) => {
      const value = last[column] ?? null;
      return kinds[index] === 'bytes' ? Buffer.from(String(value), 'hex') : value;
    });
  }
}

export async function insertRowsTx(tx: Transaction, table: StoredTable, rows: readonly Row[]): Promise<void> {
  await tx.run(table.insert, [JSON.stringify(rows)]);
}

export async function countRows(reader: Reader, counted: readonly StoredTable[]): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const { name, size } of counted) counts[name] = (await reader.get(size))?.count ?? 0;
  return counts;
}

/** The rows of a database that was only opened. */
const tablesOfNew = ['installation', 'root_keys'];

/** Whether an installation is in use. Usage does not count: an embedded database has it in the second file. */
export async function holdsRows(reader: Reader): Promise<boolean> {
  const counts = await countRows(reader, tablesIn('sqlite', 'main'));
  return Object.entries(counts).some(([name, count]) => !tablesOfNew.includes(name) && count > 0);
}

export async function clearTablesTx(tx: Transaction, cleared: readonly StoredTable[]): Promise<void> {
  for (const { clear } of cleared.toReversed()) await tx.run(clear);
}

// Blocks writes by other transactions until this one ends, and allows reads. The lock covers every table: a table that
// a running service could still write to would keep rows of the replaced database, or abort the restore by a deadlock.
// SQLite has a single writer.
const lockAll = sql('lock_all_tables', {
  sqlite: `select null`,
  postgres: `lock table ${storedTables.map(({ name }) => name).join(', ')} in exclusive mode`,
});
export const lockTablesTx = async (tx: Transaction): Promise<void> => void (await tx.all(lockAll));

// Rows that are inserted with their ids do not advance the sequences of PostgreSQL. SQLite keeps its sequences in a
// table and raises them to the highest id that was inserted.
const continueAccounts = sql('continue_account_pks', {
  sqlite: `select null`,
  postgres: `select setval(pg_get_serial_sequence('accounts', 'pk'), coalesce(max(pk), 1), count(*) > 0) from accounts`,
});
const beginEventSequence = sql('begin_audit_event_ids', {
  sqlite: `insert into sqlite_sequence (name, seq) select 'audit_events', 0
    where not exists (select 1 from sqlite_sequence where name = 'audit_events')`,
  postgres: `select null`,
});
const continueEvents = sql('continue_audit_event_ids', {
  sqlite: `update sqlite_sequence set seq = max(seq, $1, (select coalesce(max(id), 0) from audit_events))
    where name = 'audit_events'`,
  postgres: `select setval(pg_get_serial_sequence('audit_events', 'id'), greatest(1, $1::bigint, max(id)),
    greatest($1::bigint, max(id)) > 0) from audit_events`,
});

/**
 * Makes new rows get ids above all existing ones.
 * @param eventIdMin the id of the next audit event is also above this
 */
export async function continueIdsTx(tx: Transaction, eventIdMin = 0): Promise<void> {
  await tx.run(continueAccounts);
  await continueEventIdsTx(tx, eventIdMin);
}

/** @param eventIdMin the id of the next audit event is above this and above all existing ids */
export async function continueEventIdsTx(tx: Transaction, eventIdMin: number): Promise<void> {
  await tx.run(beginEventSequence);
  await tx.run(continueEvents, [eventIdMin]);
}

const selectMove = sql<{ details: string }>(
  'select_move',
  `select details from audit_events where id = $1 and action = 'installation.moved'`,
);
/** Whether the event with this id records a move. */
export const isMoveEvent = async (reader: Reader, id: number): Promise<boolean> =>
  (await reader.get(selectMove, [id])) !== undefined;

const mayCreateTables = sql<{ may: number }>('may_create_tables', {
  sqlite: `select 1 as may`,
  postgres: `select case when has_schema_privilege(current_schema(), 'create') then 1 else 0 end as may`,
});
export const mayCreate = async (reader: Reader): Promise<boolean> => (await reader.get(mayCreateTables))?.may === 1;
