/**
 * The driver of the embedded database: one file, read on the main thread and written on another (`sqlite-commits.ts`).
 * Reads take their snapshot when they run (WAL mode), so they see every commit that was acknowledged before.
 */
import { monotonicMs } from '../clock.ts';
import type { AuditKey, Db, DbTimes, Reader, Transaction } from './db.ts';
import { DatabaseFile, DatabaseReplacedError, identityOf } from './file-identity.ts';
import { SqliteCommits } from './sqlite-commits.ts';
import { SqliteBatchReader } from './sqlite-batch.ts';
import { createFile, SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { WriterThread } from './sqlite-writer-thread.ts';
import { sql, type ManyStatement, type SqlValue, type Statement } from './sql.ts';
import { orUnavailable, unavailable } from './unavailable.ts';
import { WriteHealth } from './write-health.ts';

/** Attempts to open a file that is replaced meanwhile. */
const openAttemptsMax = 3;

export class SqliteDb implements Db {
  readonly dialect = 'sqlite';
  readonly times: DbTimes = { observe: () => undefined };
  /**
   * A read returns within the call. Larger batches were not faster and made the server and its clients wait for each other
   * (docs/decisions/0003-hot-path.md).
   */
  readonly sharedReads = { concurrentReadsMax: 2, immediateBatchSize: 16 };
  readonly file: DatabaseFile;
  readonly #path: string;
  readonly #reader: SqliteConnection;
  readonly #batches: SqliteBatchReader;
  readonly writes = new WriteHealth(() => this.transaction((tx) => tx.run(rewritePage)));
  readonly #commits: SqliteCommits;
  #isClosing = false;

  /** @param path of the file, which is created if it does not exist */
  static async open(path: string, auditKey: AuditKey): Promise<SqliteDb> {
    for (let attempt = 0; attempt < openAttemptsMax; attempt++) {
      createFile(path);
      const found = identityOf(path);
      const thread = new WriterThread(path);
      await thread.opened();
      const db = new SqliteDb(path, thread, auditKey);
      // Then both connections have the same file open. An overlay changes the inode when a file is first opened for writing.
      if (db.file.identity[0] === found) return db;
      await db.close();
    }
    throw unavailable(new DatabaseReplacedError(path));
  }

  private constructor(path: string, thread: WriterThread, auditKey: AuditKey) {
    this.#path = path;
    this.#reader = new SqliteConnection(path, 'read');
    this.#batches = new SqliteBatchReader(this.#reader);
    this.file = new DatabaseFile(path);
    this.#commits = new SqliteCommits({
      path,
      thread,
      file: this.file,
      health: this.writes,
      newTransaction: (issue) => new SqliteTransaction(auditKey, issue),
      onCommit: (ms) => this.times.observe('commit', ms),
    });
  }

  async all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return orUnavailable(() => this.#checkedReader.prepare(statement.text.sqlite).all(...values) as Row[]);
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return orUnavailable(() => this.#checkedReader.prepare(statement.text.sqlite).get(...values) as Row | undefined);
  }

  async getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]> {
    return orUnavailable(() => {
      const startedMs = monotonicMs();
      const connection = this.#checkedReader;
      if (statement.toRow) {
        const rows = this.#batches.read(statement, statement.toRow, valuesOfEach);
        this.times.observe('read', monotonicMs() - startedMs);
        return rows;
      }
      const prepared = connection.prepare(statement.text.sqlite);
      // One transaction for all reads: taking a snapshot costs as much as a read.
      this.#reader.prepare('begin').run();
      try {
        return valuesOfEach.map((values) => prepared.get(...values) as Row | undefined);
      } finally {
        this.#reader.prepare('commit').run();
        this.times.observe('read', monotonicMs() - startedMs);
      }
    });
  }

  transaction<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#isClosing) return Promise.reject(unavailable(new Error('the database is closed')));
    return this.#commits.transaction(body);
  }

  /**
   * A reader sees a commit only after its frames have been flushed: SQLite updates the index of the WAL after the sync
   * (`sqlite3WalFrames` in https://sqlite.org/src/file/src/wal.c), and `synchronous` is FULL on every connection.
   */
  confirm(): Promise<void> {
    return Promise.resolve();
  }

  async snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    orUnavailable(() => this.file.compare());
    const connection = orUnavailable(() => new SqliteConnection(this.#path, 'read'));
    try {
      orUnavailable(() => this.file.compare());
      return await body(orUnavailable(() => SqliteReader.ofSnapshot(connection)));
    } finally {
      connection.close();
    }
  }

  async close(): Promise<void> {
    // Otherwise a later write would start a new writer thread.
    this.#isClosing = true;
    this.writes.stop();
    this.file.stop();
    await this.#commits.settled();
    // SQLite neither checkpoints nor deletes a `-wal` for a file that has moved (`sqlite3PagerClose`).
    this.#reader.close();
    await this.#commits.closeThread();
  }

  /** @throws DatabaseReplacedError */
  get #checkedReader(): SqliteConnection {
    this.file.assertInPlace();
    return this.#reader;
  }
}

/** Writes an unchanged page, so that the commit reaches the disk. */
const rewritePage = sql('rewrite_page', 'pragma user_version = 0');
