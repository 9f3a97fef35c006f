/**
 * The embedded database: one file, read on the main thread, written by a thread of its own (`sqlite-writer.ts`).
 *
 * Reads take their snapshot when they run (WAL mode), so they see every commit that was acknowledged before.
 * Writes that wait or arrive while a batch is open share its commit, in the order of `fair-queue.ts`; each is a savepoint,
 * so that one that fails leaves the others alone, and each is answered only after the commit.
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

/** Operations that share one commit at most. */
const operationsPerCommitMax = 64;
/**
 * No operation joins a commit after this time, or after as long as the last commit waited for the disk if that is longer:
 * an operation that arrives next waits for little more than that, and at least half of the time is not spent waiting.
 */
const batchWorkMsMax = 10;
/** Opening, when the file is replaced meanwhile. */
const openAttemptsMax = 3;

interface Operation {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteDb implements Db {
  readonly dialect = 'sqlite';
  readonly times: DbTimes = { observe: () => undefined };
  /**
   * A read answers within the call. Larger batches gained nothing and made server and clients wait for each other in turn
   * (docs/decisions/0003-hot-path.md).
   */
  readonly sharedReads = { underWayMax: 2, questionsEnough: 16 };
  readonly file: DatabaseFile;
  readonly #path: string;
  readonly #reader: SqliteConnection;
  readonly writes = new WriteHealth(() => this.transaction((tx) => (tx as WriterThread).ask('exec', touch)));
  readonly #auditKey: AuditKey;
  #writer: WriterThread;
  readonly #waiting = new FairQueue<Operation>(writesWaiting);
  #committing: Promise<void> | undefined;
  #lastCommitMs = 0;
  #isClosing = false;

  /** @param path of the file, which is created if it doesn't exist */
  static async open(path: string, auditKey: AuditKey): Promise<SqliteDb> {
    for (let attempt = 0; attempt < openAttemptsMax; attempt++) {
      createFile(path);
      const found = identityOf(path);
      const writer = new WriterThread(path, auditKey);
      await writer.ask('exec', 'select 1');
      const db = new SqliteDb(path, writer, auditKey);
      // Both connections have the same file open. An overlay gives a file another inode when it is first opened for writing.
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
    return orUnavailable(() => this.#inPlace.prepare(statement.text.sqlite).all(...values) as Row[]);
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return orUnavailable(() => this.#inPlace.prepare(statement.text.sqlite).get(...values) as Row | undefined);
  }

  async getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]> {
    return orUnavailable(() => {
      const startedMs = monotonicMs();
      const prepared = this.#inPlace.prepare(statement.text.sqlite);
      // One transaction for all: taking and giving back the snapshot costs as much as a read.
      this.#reader.prepare('begin').run();
      try {
        return valuesOfEach.map((values) => prepared.get(...values) as Row | undefined);
      } finally {
        this.#reader.prepare('commit').run();
        this.times.observe('read', monotonicMs() - startedMs);
      }
    });
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#isClosing) return Promise.reject(unavailable(new Error('the database is closed')));
    return new Promise<T>((resolve, reject) => {
      const operation = { work, resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.push(currentShare(), operation, reject);
      this.#committing ??= this.#commitAll();
    });
  }

  /**
   * A reader sees a commit only after its frames have been flushed: SQLite publishes the new end of the log in its index
   * after the sync (`sqlite3WalFrames` in https://sqlite.org/src/file/src/wal.c), and `synchronous` is FULL on every
   * connection.
   */
  confirm(): Promise<void> {
    return Promise.resolve();
  }

  async snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    orUnavailable(() => this.file.compare());
    const connection = orUnavailable(() => new SqliteConnection(this.#path, 'read'));
    try {
      orUnavailable(() => this.file.compare());
      return await work(orUnavailable(() => SqliteReader.ofOneMoment(connection)));
    } finally {
      connection.close();
    }
  }

  async close(): Promise<void> {
    // A later write would open the file again, by a thread in place of the one that ends now.
    this.#isClosing = true;
    this.writes.stop();
    this.file.stop();
    await this.#committing;
    // SQLite neither checkpoints nor deletes a `-wal` for a file that has moved (`sqlite3PagerClose`).
    this.#reader.close();
    await this.#writer.close();
  }

  /** @throws DatabaseReplacedError */
  get #inPlace(): SqliteConnection {
    this.file.assertInPlace();
    return this.#reader;
  }

  async #commitAll(): Promise<void> {
    for (let first = this.#waiting.take(); first; first = this.#waiting.take()) await this.#commitTogether(first);
    // In the same step as the last look at the queue: what comes later starts anew.
    this.#committing = undefined;
  }

  /**
   * Another thread in place of one that has ended. What was in flight there has been rejected as unknown.
   * @throws DatabaseReplacedError, also when the new thread has opened another file
   */
  async #liveWriter(): Promise<WriterThread> {
    this.file.compare();
    if (this.#writer.isAlive) return this.#writer;
    await this.#writer.ended();
    this.#writer = new WriterThread(this.#path, this.#auditKey);
    await this.#writer.ask('exec', 'select 1');
    this.file.compare();
    return this.#writer;
  }

  /**
   * The first operation, and those that wait or arrive before the commit. Answers come after the commit, refusals too: a
   * refusal may rest on what another operation of the batch wrote.
   */
  async #commitTogether(first: Operation): Promise<void> {
    const operations = [first];
    const answers: (() => void)[] = [];
    const startedMs = monotonicMs();
    const workMsMax = Math.max(batchWorkMsMax, this.#lastCommitMs);
    let committingMs: number | undefined;
    let writer: WriterThread | undefined;
    try {
      writer = await this.#liveWriter();
      await writer.ask('exec', 'begin immediate');
      for (let next: Operation | undefined = first; next;) {
        answers.push(await runInSavepoint(writer, next));
        const isFull = operations.length >= operationsPerCommitMax || monotonicMs() - startedMs > workMsMax;
        next = isFull ? undefined : this.#waiting.take();
        if (next) operations.push(next);
      }
      committingMs = monotonicMs();
      await writer.ask('exec', 'commit');
      // A change in a file that is no longer in place is lost: it is not acknowledged.
      this.file.compare();
    } catch (error) {
      await writer?.ask('exec', 'rollback').catch(() => undefined);
      this.writes.failed();
      // A later flush could report success for what this one lost, so the file is opened anew.
      if (committingMs !== undefined) writer?.giveUp();
      // A commit that fails may have reached the disk all the same.
      for (const { reject } of operations) reject(unavailable(error, committingMs !== undefined));
      return;
    }
    this.writes.succeeded();
    this.#lastCommitMs = monotonicMs() - committingMs;
    this.times.observe('commit', monotonicMs() - startedMs);
    for (const answer of answers) answer();
  }
}

/** Writes a page that is as it was: a change of nothing that reaches the disk all the same. */
const touch = 'pragma user_version = 0';

/** @returns how to answer the operation once it has been committed */
async function runInSavepoint(writer: WriterThread, { work, resolve, reject }: Operation): Promise<() => void> {
  await writer.ask('exec', 'savepoint operation');
  let answer: () => void;
  try {
    const value = await work(writer);
    answer = () => resolve(value);
  } catch (error) {
    await writer.ask('exec', 'rollback to operation');
    answer = () => reject(error);
  }
  await writer.ask('exec', 'release operation');
  return answer;
}

/** Questions to the thread, answered in order; also what a transaction is given. */
class WriterThread implements Transaction {
  readonly auditKey: AuditKey;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: unknown) => void }>();
  #lastId = 0;
  #failure: Error | undefined;

  constructor(path: string, auditKey: AuditKey) {
    this.auditKey = auditKey;
    this.#worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url), { workerData: { path } });
    this.#worker.on('message', ([id, result, error]: WriterResponse) => {
      const asked = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(unavailable(new Error(error)));
    });
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the writing thread has ended')));
  }

  ask(kind: WriterRequest[1], text: string, values: readonly SqlValue[] = []): Promise<unknown> {
    if (this.#failure) return Promise.reject(unavailable(this.#failure));
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage([id, kind, text, values] satisfies WriterRequest);
    });
  }

  all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.ask('all', statement.text.sqlite, values) as Promise<Row[]>;
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return (await this.all(statement, values))[0];
  }

  run(statement: Statement<never>, values: readonly SqlValue[] = []): Promise<number> {
    return this.ask('run', statement.text.sqlite, values) as Promise<number>;
  }

  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** Resolves once nothing of the thread runs any more. */
  async ended(): Promise<void> {
    await this.#worker.terminate();
  }

  giveUp(): void {
    this.#fail(new Error('a commit failed; the file is opened anew'));
  }

  async close(): Promise<void> {
    if (this.isAlive) await this.ask('close', '');
    await this.#worker.terminate();
  }

  /** Whoever waits learns it; what was in flight may or may not have been committed. */
  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(unavailable(error));
    this.#waiting.clear();
  }
}
