/**
 * Reads one row for each of several lists of values with one SQLite statement. Rows arrive as arrays: objects and a
 * statement for each list take a third longer (docs/decisions/01-verification.md).
 */
import type { StatementSync } from 'node:sqlite';
import type { ManyStatement, SqlValue } from './sql.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** A row begins with the number of its list, from 1. */
type NumberedRow = readonly [ordinal: number, ...values: SqlValue[]];

/** The place in the text of a statement for the lists of values. */
const placeholder = '$requested';

export class SqliteBatchReader {
  readonly #connection: SqliteConnection;
  /** For each statement, by the binary logarithm of the number of lists. */
  readonly #prepared = new Map<ManyStatement<unknown>, (StatementSync | undefined)[]>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** All rows come from one snapshot, because one statement returns them. */
  read<Row>(
    statement: ManyStatement<Row>,
    toRow: (values: readonly SqlValue[]) => Row,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): (Row | undefined)[] {
    const results: (Row | undefined)[] = Array.from({ length: valuesOfEach.length });
    const [first] = valuesOfEach;
    if (first === undefined) return results;
    const sizeLog2 = Math.ceil(Math.log2(valuesOfEach.length));
    const values = valuesOfEach.flat();
    // The other lists contain nulls. Null equals nothing, so they return no rows.
    while (values.length < first.length * 2 ** sizeLog2) values.push(null);
    const rows = this.#statement(statement, sizeLog2, first.length).all(...values) as unknown as NumberedRow[];
    for (const row of rows) results[row[0] - 1] = toRow(row);
    return results;
  }

  /** One statement for each power of two, so that their number is bounded. */
  #statement(statement: ManyStatement<unknown>, sizeLog2: number, width: number): StatementSync {
    let bySize = this.#prepared.get(statement);
    if (!bySize) this.#prepared.set(statement, (bySize = []));
    return (bySize[sizeLog2] ??= this.#prepare(statement.text.sqlite, 2 ** sizeLog2, width));
  }

  #prepare(text: string, size: number, width: number): StatementSync {
    const lists = Array.from({ length: size }, (_, index) => `(${index + 1}${', ?'.repeat(width)})`);
    const prepared = this.#connection.prepare(text.replace(placeholder, `values ${lists.join(', ')}`));
    prepared.setReturnArrays(true);
    return prepared;
  }
}
