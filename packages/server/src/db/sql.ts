/** SQL statements as values: a stable name, the text for each dialect, and the type of the rows. */

export type Dialect = 'sqlite' | 'postgres';

/** What a statement's parameters can be. Times are integer milliseconds, hashes are bytes. */
export type SqlValue = string | number | Uint8Array | null;

export interface Statement<Row> {
  readonly name: string;
  readonly text: Readonly<Record<Dialect, string>>;
  /** Holds the type of the rows; never set. */
  readonly row?: Row;
}

/**
 * A statement in the SQL that both databases share, or a pair where they differ. Parameters are `$1`, `$2`, …;
 * columns are renamed to camelCase in the statement itself.
 */
export function sql<Row = never>(name: string, text: string | Readonly<Record<Dialect, string>>): Statement<Row> {
  const pair = typeof text === 'string' ? { sqlite: text, postgres: text } : text;
  return { name, text: { sqlite: pair.sqlite.replaceAll(/\$(\d+)/g, '?$1'), postgres: pair.postgres } };
}
