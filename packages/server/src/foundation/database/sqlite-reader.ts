/** Reads of one moment on an SQLite connection of their own, which nothing else uses meanwhile. */
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

  /** The moment is now: SQLite takes the snapshot with the first read. */
  static ofOneMoment(connection: SqliteConnection): SqliteReader {
    connection.exec('begin');
    connection.prepare('select 1 from sqlite_schema').get();
    return new SqliteReader(connection);
  }

  /** For a file that nobody else has open: it stays so until the connection is closed. @throws Error when somebody has */
  static ofFileAlone(connection: SqliteConnection): SqliteReader {
    // Refused while any other connection is open, also an idle one; and it leaves no second file behind.
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
