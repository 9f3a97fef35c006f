/**
 * The driver of the embedded database: one file, read on the main thread and written by a writer thread
 * (`sqlite-commits.ts`). Reads take their snapshot when they run (WAL mode), so they see every commit that was acknowledged
 * before.
 */
import { monotonicMs } from '../clock.ts';
import { inSpan } from '../tracing.ts';
import { databaseWaits, type DatabaseWaits } from './database-waits.ts';
import type {
  AuditKey,
  BeforeRead,
  Db,
  Reader,
  SecondFile,
  Transaction,
  TransactionOptions,
  UsageDb,
  Procedure,
} from './db.ts';
import { DatabaseFile, DatabaseReplacedError, identityOf } from './file-identity.ts';
import { OperationTimes } from './operation-times.ts';
import { currentShare, currentSpan, inCurrentShare, type Share } from './share.ts';
import { SqliteCommits, type SqliteCommitsOptions } from './sqlite-commits.ts';
import { SqliteBatchReader } from './sqlite-batch.ts';
import { createFile, SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import type { CalledProcedure } from './sqlite-steps.ts';
import { SqliteTransaction, type IssueStatement, type OperationBody } from './sqlite-transaction.ts';
import { WriterThread } from './sqlite-writer-thread.ts';
import { sql, type ManyStatement, type SqlValue, type Statement } from './sql.ts';
import { orUnavailable, unavailable } from './unavailable.ts';
import { WriteHealth } from './write-health.ts';

/** Attempts to open a file that is replaced meanwhile. */
const openAttemptsMax = 3;

export interface OpenSqliteOptions {
  /** Default: those of the product. */
  readonly waits?: DatabaseWaits | undefined;
  /** Whether its commits can wait for other work of the machine. */
  readonly isBackground?: boolean;
  /** Files of procedures that the writer thread loads at its start. */
  readonly procedures?: readonly string[];
}

export class SqliteDb implements Db {
  readonly dialect = 'sqlite';
  readonly times = new OperationTimes();
  /**
   * A read returns within the call. Larger batches were not faster and made the server and its clients wait for each other
   * (docs/decisions/01-verification.md).
   */
  readonly sharedReads = { concurrentReadsMax: 2, immediateBatchSize: 16 };
  readonly file: DatabaseFile;
  usage: UsageDb = this;
  usageFile: SecondFile | undefined;
  readonly #path: string;
  readonly #reader: SqliteConnection;
  readonly #batches: SqliteBatchReader;
  readonly writes = new WriteHealth(() => this.transaction((tx) => tx.run(rewritePage)));
  readonly #auditKey: AuditKey;
  /** Undefined in a process that only reads. */
  readonly #commits: SqliteCommits | undefined;
  readonly #beforeRead: BeforeRead;
  #isClosing = false;

  /** @param path of the file, which is created if it does not exist */
  static async open(
    path: string,
    auditKey: AuditKey,
    { waits = databaseWaits, ...options }: OpenSqliteOptions = {},
  ): Promise<SqliteDb> {
    const newWriter = (): WriterThread => new WriterThread(path, options);
    for (let attempt = 0; attempt < openAttemptsMax; attempt++) {
      createFile(path);
      const found = identityOf(path);
      const writer = newWriter();
      await writer.opened();
      const db = new SqliteDb(path, auditKey, {}, { writer, newWriter, waits });
      // Then both connections have the same file open. An overlay changes the inode when a file is first opened for writing.
      if (db.file.identity[0] === found) return db;
      await db.close();
    }
    throw unavailable(new DatabaseReplacedError(path));
  }

  /** Opens a file that another process writes. @throws DomainError `unavailable` */
  static openReader(path: string, auditKey: AuditKey, beforeRead: BeforeRead): SqliteDb {
    return orUnavailable(() => new SqliteDb(path, auditKey, { beforeRead }));
  }

  private constructor(
    path: string,
    auditKey: AuditKey,
    { beforeRead = (file) => file?.assertInPlace() }: { readonly beforeRead?: BeforeRead },
    commits?: Pick<SqliteCommitsOptions, 'writer' | 'newWriter' | 'waits'>,
  ) {
    this.#path = path;
    this.#auditKey = auditKey;
    this.#beforeRead = beforeRead;
    this.#reader = new SqliteConnection(path, 'read');
    this.#batches = new SqliteBatchReader(this.#reader);
    this.file = new DatabaseFile(path);
    const { file, writes: health } = this;
    const onCommit = (ms: number): void => this.times.observe('commit', ms);
    this.#commits = commits && new SqliteCommits({ ...commits, file, health, onCommit });
  }

  /** Usage is stored in a second file, which is closed with this one. */
  storeUsageIn(file: SecondFile): void {
    this.usage = file;
    this.usageFile = file;
  }

  /** Bounds the page cache of reads. */
  limitCache(kib: number): void {
    this.#reader.exec(`pragma cache_size = -${kib}`);
  }

  async all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#read(() => this.#checkedReader.prepare(statement.text.sqlite).all(...values) as Row[]);
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return this.#read(() => this.#checkedReader.prepare(statement.text.sqlite).get(...values) as Row | undefined);
  }

  async getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]> {
    return this.#read(() => {
      const startedMs = monotonicMs();
      const reader = this.#checkedReader;
      try {
        if (statement.toRow) return this.#batches.read(statement, statement.toRow, valuesOfEach);
        return readEach(reader, statement, valuesOfEach);
      } finally {
        this.times.observe('read', monotonicMs() - startedMs);
      }
    });
  }

  async transaction<T>(body: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const share = currentShare();
    // The commit calls it in the turn of another operation.
    const inShare = inCurrentShare(body);
    const run = async (issue: IssueStatement): Promise<T> => {
      const tx = new SqliteTransaction(this.#auditKey, share.traceId, issue);
      try {
        return await inShare(tx);
      } finally {
        tx.end();
      }
    };
    return this.#commit(run, share, options);
  }

  async perform<Input, Output>({ script, name }: Procedure<Input, Output>, input: Input): Promise<Output> {
    const share = currentShare();
    const { rootKeyVersion = 1 } = this.#auditKey;
    const auditKey = { key: this.#auditKey.reveal(), rootKeyVersion };
    return this.#commit({ script, name, input, auditKey, traceId: share.traceId }, share);
  }

  get isWriterFree(): boolean {
    return this.#commits?.isFree === true;
  }

  /** @throws DomainError `unavailable` */
  #commit<T>(work: OperationBody<T> | CalledProcedure, share: Share, options?: TransactionOptions): Promise<T> {
    const commits = this.#commits;
    if (this.#isClosing) throw unavailable(new Error('the database is closed'));
    if (!commits) throw unavailable(new Error('this process only reads'));
    orUnavailable(() => this.file.assertInPlace());
    const commit = { name: 'db.commit', kind: 'client' } as const;
    return inSpan(currentSpan(), commit, () => commits.run(work, share, options));
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
    await this.usageFile?.close();
    this.writes.stop();
    this.file.stop();
    await this.#commits?.settled();
    // SQLite neither checkpoints nor deletes a `-wal` for a file that has moved (`sqlite3PagerClose`).
    this.#reader.close();
    await this.#commits?.close();
  }

  /** @throws DomainError `unavailable` */
  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.times.failedReads++;
      throw unavailable(error);
    }
  }

  /** @throws DatabaseReplacedError */
  get #checkedReader(): SqliteConnection {
    this.#beforeRead(this.file);
    return this.#reader;
  }
}

/** One transaction for all reads: taking a snapshot costs as much as a read. */
function readEach<Row>(
  reader: SqliteConnection,
  statement: ManyStatement<Row>,
  valuesOfEach: readonly (readonly SqlValue[])[],
): (Row | undefined)[] {
  const prepared = reader.prepare(statement.text.sqlite);
  reader.prepare('begin').run();
  try {
    return valuesOfEach.map((values) => prepared.get(...values) as Row | undefined);
  } finally {
    reader.prepare('commit').run();
  }
}

/** Writes an unchanged page, so that the commit reaches the disk. */
const rewritePage = sql('rewrite_page', 'pragma user_version = 0');
