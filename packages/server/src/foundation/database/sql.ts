/** SQL statements as values: a label, the text for each dialect, and the type of the rows. */
import { createHash } from 'node:crypto';

export type Dialect = 'sqlite' | 'postgres';

/** Types of a statement's parameters. Times are integer milliseconds, hashes are bytes. */
export type SqlValue = string | number | Uint8Array | null;

export interface Statement<Row> {
  /** A label for logs and `pg_prepared_statements`. It need not be unique. */
  readonly name: string;
  /**
   * The name of the prepared statement on a PostgreSQL connection. It derives from the text, so that two statements can
   * never share one: PostgreSQL rejects a second text under a prepared name.
   */
  readonly preparedName: string;
  readonly text: Readonly<Record<Dialect, string>>;
  /** Carries the type of the rows; never set. */
  readonly row?: Row;
}

/** A read of one row for each of several lists of values: {@link sqlMany}. */
export interface ManyStatement<Row> extends Statement<Row> {
  readonly isMany: true;
  /** Makes a row of the statement's columns on SQLite. Set if the statement reads all rows at once there. */
  readonly toRow: ((columns: readonly SqlValue[]) => Row) | undefined;
}

/** An expression: the time of a PostgreSQL database in milliseconds. Null on SQLite, which has the clock of the process. */
export const databaseTime: Readonly<Record<Dialect, string>> = {
  sqlite: 'null',
  postgres: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
};

/**
 * A statement in SQL that both databases understand, or one text for each. Parameters are `$1`, `$2`, …; the statement
 * renames columns to camelCase.
 */
export function sql<Row = never>(name: string, text: string | Readonly<Record<Dialect, string>>): Statement<Row> {
  const pair = typeof text === 'string' ? { sqlite: text, postgres: text } : text;
  return {
    name,
    preparedName: preparedNameOf(name, pair.postgres),
    text: { sqlite: pair.sqlite.replaceAll(/\$(\d+)/g, '?$1'), postgres: pair.postgres },
  };
}

/**
 * The read of one row for each of several lookups. On PostgreSQL, the statement runs once: its parameters are arrays with
 * the values of all lookups, and `ordinal` (from 1) in a row is the number of the lookup: `unnest($1::bigint[]) with
 * ordinality`. On SQLite, it runs once for each lookup, except with `toRow`.
 * @param toRow for frequent reads, which run once on SQLite as well. The text contains `$requested`, for a list of the
 *   lookups: `with requested (ordinal, id) as ($requested)`. Columns are numbered; the first one is `ordinal`
 */
export function sqlMany<Row>(
  name: string,
  text: Readonly<Record<Dialect, string>>,
  toRow?: (columns: never) => Row,
): ManyStatement<Row> {
  return { ...sql<Row>(name, text), isMany: true, toRow: toRow as ManyStatement<Row>['toRow'] };
}

/** PostgreSQL truncates longer identifiers (NAMEDATALEN - 1). */
const identifierBytesMax = 63;
const digestLength = 16;

function preparedNameOf(label: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  return `${label.slice(0, identifierBytesMax - digestLength - 1)}_${digest}`;
}
