/**
 * The driver of the embedded database: one file, read on the main thread and written on another (`sqlite-writer.ts`).
 *
 * Reads take their snapshot when they run (WAL mode), so they see every commit that was acknowledged before. Writes that
 * wait or arrive while a batch is open share its commit, in the order of `fair-queue.ts`. Each write has a savepoint, so
 * its failure does not affect the others, and is acknowledged only after the commit.
 */
import { Worker } from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import type { AuditKey, Db, DbTimes, Reader, Transaction } from './db.ts';
import { FairQueue, writesWaiting } from './fair-queue.ts';
import { DatabaseFile, DatabaseReplacedError, identityOf } from './file-identity.ts';
import { currentShare } from './share.ts';
import { createFile, SqliteConnection } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import type { WriterRequest, WriterResponse } from './sqlite-writer.ts';
import type { ManyStatement, SqlValue, Statement } from './sql.ts';
import { orUnavailable, unavailable } from './unavailable.ts';
import { WriteHealth } from './write-health.ts';

/** Maximum of operations that share a commit. */
const operationsPerCommitMax = 64;
/**
 * No operation joins a batch after this time, or after the duration of the last commit if that is longer. So the next
 * operation waits for little more than that, and at least half of the time is not spent waiting for the disk.
 */
const batchWorkMsMax = 10;
/** Attempts to open a file that is replaced meanwhile. */
const openAttemptsMax = 3;

interface Operation {
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

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
  readonly writes = new WriteHealth(() => this.transaction((tx) => (tx as WriterThread).request('exec', rewritePage)));
  readonly #auditKey: AuditKey;
  #writer: WriterThread;
  readonly #waiting = new FairQueue<Operation>(writesWaiting);
  #committing: Promise<void> | undefined;
  #lastCommitMs = 0;
  #isClosing = false;

  /** @param path of the file, which is created if it does not exist */
  static async open(path: string, auditKey: AuditKey): Promise<SqliteDb> {
    for (let attempt = 0; attempt < openAttemptsMax; attempt++) {
      createFile(path);
      const found = identityOf(path);
      const writer = new WriterThread(path, auditKey);
      await writer.request('exec', 'select 1');
      const db = new SqliteDb(path, writer, auditKey);
      // Then both connections have the same file open. An overlay changes the inode when a file is first opened for writing.
      if (db.file.identity[0] === found) return db;
      await db.close();
    }
    throw unavailable(new DatabaseReplacedError(path));
  }

  private constructor(path: string, writer: WriterThread, auditKey: AuditKey) {
    this.#path = path;
    this.#auditKey = auditKey;
    this.#reader = new SqliteConnection(path, 'read');
    this.file = new DatabaseFile(path);
    this.#writer = writer;
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
      const prepared = this.#checkedReader.prepare(statement.text.sqlite);
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
    return new Promise<T>((resolve, reject) => {
      const operation = { body, resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.push(currentShare(), operation, reject);
      this.#committing ??= this.#commitAll();
    });
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
    await this.#committing;
    // SQLite neither checkpoints nor deletes a `-wal` for a file that has moved (`sqlite3PagerClose`).
    this.#reader.close();
    await this.#writer.close();
  }

  /** @throws DatabaseReplacedError */
  get #checkedReader(): SqliteConnection {
    this.file.assertInPlace();
    return this.#reader;
  }

  async #commitAll(): Promise<void> {
    for (let first = this.#waiting.take(); first; first = this.#waiting.take()) await this.#commitTogether(first);
    // Synchronous with the last check of the queue, so a later operation starts the loop again.
    this.#committing = undefined;
  }

  /**
   * Replaces a writer thread that has failed. Its pending requests were rejected with an unknown outcome.
   * @throws DatabaseReplacedError, also if the new thread opened another file
   */
  async #workingWriter(): Promise<WriterThread> {
    this.file.compare();
    if (!this.#writer.hasFailed) return this.#writer;
    await this.#writer.terminate();
    this.#writer = new WriterThread(this.#path, this.#auditKey);
    await this.#writer.request('exec', 'select 1');
    this.file.compare();
    return this.#writer;
  }

  /**
   * Runs the first operation and those that wait or arrive before the commit. Results are delivered after the commit.
   * Errors are too: they may depend on the writes of another operation of the batch.
   */
  async #commitTogether(first: Operation): Promise<void> {
    const operations = [first];
    const deliveries: (() => void)[] = [];
    const startedMs = monotonicMs();
    const workMsMax = Math.max(batchWorkMsMax, this.#lastCommitMs);
    let committingMs: number | undefined;
    let writer: WriterThread | undefined;
    try {
      writer = await this.#workingWriter();
      await writer.request('exec', 'begin immediate');
      for (let next: Operation | undefined = first; next;) {
        deliveries.push(await runInSavepoint(writer, next));
        const isFull = operations.length >= operationsPerCommitMax || monotonicMs() - startedMs > workMsMax;
        next = isFull ? undefined : this.#waiting.take();
        if (next) operations.push(next);
      }
      committingMs = monotonicMs();
      await writer.request('exec', 'commit');
      // A change in a replaced file is lost, so it is not acknowledged.
      this.file.compare();
    } catch (error) {
      await writer?.request('exec', 'rollback').catch(() => undefined);
      this.writes.failed();
      // A later flush could report success although this one lost data, so the file is opened again.
      if (committingMs !== undefined) writer?.markFailed();
      // A commit that fails may have reached the disk.
      for (const { reject } of operations) reject(unavailable(error, committingMs !== undefined));
      return;
    }
    this.writes.succeeded();
    this.#lastCommitMs = monotonicMs() - committingMs;
    this.times.observe('commit', monotonicMs() - startedMs);
    for (const deliver of deliveries) deliver();
  }
}

/** Writes an unchanged page, so that the commit reaches the disk. */
const rewritePage = 'pragma user_version = 0';

/** @returns a function that delivers the result, to be called after the commit */
async function runInSavepoint(writer: WriterThread, { body, resolve, reject }: Operation): Promise<() => void> {
  await writer.request('exec', 'savepoint operation');
  let deliver: () => void;
  try {
    const value = await body(writer);
    await writer.runEnqueued();
    deliver = () => resolve(value);
  } catch (error) {
    writer.dropEnqueued();
    await writer.request('exec', 'rollback to operation');
    deliver = () => reject(error);
  }
  await writer.request('exec', 'release operation');
  return deliver;
}

/** Sends requests to the writer thread, which handles them in order. Transactions get it as their interface. */
class WriterThread implements Transaction {
  readonly auditKey: AuditKey;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: unknown) => void }>();
  readonly #enqueued: Promise<unknown>[] = [];
  #lastId = 0;
  #failure: Error | undefined;

  constructor(path: string, auditKey: AuditKey) {
    this.auditKey = auditKey;
    this.#worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url), { workerData: { path } });
    this.#worker.on('message', ([id, result, error]: WriterResponse) => {
      const request = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) request?.resolve(result);
      else request?.reject(unavailable(new Error(error)));
    });
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the writer thread has ended')));
  }

  request(kind: WriterRequest[1], text: string, values: readonly SqlValue[] = []): Promise<unknown> {
    if (this.#failure) return Promise.reject(unavailable(this.#failure));
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage([id, kind, text, values] satisfies WriterRequest);
    });
  }

  all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.request('all', statement.text.sqlite, values) as Promise<Row[]>;
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return (await this.all(statement, values))[0];
  }

  run(statement: Statement<never>, values: readonly SqlValue[] = []): Promise<number> {
    return this.request('run', statement.text.sqlite, values) as Promise<number>;
  }

  enqueue(statement: Statement<never>, values: readonly SqlValue[] = []): void {
    const result = this.run(statement, values);
    result.catch(() => undefined);
    this.#enqueued.push(result);
  }

  /** Waits for the statements of {@link enqueue}. */
  async runEnqueued(): Promise<void> {
    await Promise.all(this.#enqueued.splice(0));
  }

  dropEnqueued(): void {
    this.#enqueued.length = 0;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when the thread has stopped. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  markFailed(): void {
    this.#fail(new Error('a commit failed; the file is opened again'));
  }

  async close(): Promise<void> {
    if (!this.hasFailed) await this.request('close', '');
    await this.terminate();
  }

  /** Rejects the pending requests. Their changes may or may not have been committed. */
  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(unavailable(error));
    this.#waiting.clear();
  }
}
