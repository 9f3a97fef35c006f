/** Reads of one snapshot on their own SQLite connection. */
import type { Reader } from './db.ts';
import type { SqlValue, Statement } from './sql.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { orUnavailable } from './unavailable.ts';

export class SqliteReader implements Reader {
  readonly dialect = 'sqlite';
  readonly #connection: SqliteConnection;

  private constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Takes the snapshot now: SQLite does so at the first read. */
  static ofSnapshot(connection: SqliteConnection): SqliteReader {
    connection.exec('begin');
    connection.prepare('select 1 from sqlite_schema').get();
    return new SqliteReader(connection);
  }

  /** Locks the file until the connection is closed. @throws Error if another connection has the file open */
  static ofLockedFile(connection: SqliteConnection): SqliteReader {
    // Fails while another connection is open, even an idle one. Afterwards the database has no -wal file.
    connection.exec('pragma journal_mode = delete');
    connection.exec('begin exclusive');
    return new SqliteReader(connection);
  }

  async all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return orUnavailable(() => this.#connection.prepare(statement.text.sqlite).all(...values) as Row[]);
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return orUnavailable(() => this.#connection.prepare(statement.text.sqlite).get(...values) as Row | undefined);
  }
}
