/** What a backup, a restore and a move know of a table. */

export type ColumnKind = 'integer' | 'text' | 'bytes';

export interface Table {
  readonly name: string;
  /** The column or columns of the primary key, which orders the pages. */
  readonly key: string | readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** False for rows that are worthless after a restore. A move copies them. */
  readonly isInBackup: boolean;
  /** Whether an embedded database has it in its second file. */
  readonly isUsage?: true;
}

/** A row as a backup holds it: bytes are hexadecimal text. */
export type Row = Readonly<Record<string, string | number | null>>;
/** Number of rows by table name. */
export type Counts = Readonly<Record<string, number>>;
