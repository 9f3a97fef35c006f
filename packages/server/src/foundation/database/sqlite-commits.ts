/**
 * Runs the transactions of an SQLite file. Operations that wait or arrive while a transaction is open share its commit, in
 * the order of `fair-queue.ts`. Each has a savepoint, so its failure does not affect the others, and is acknowledged only
 * after the commit.
 *
 * The end of an operation is sent with the start of the next one, or with the commit. So a single operation whose
 * statements are issued together needs two messages to the writer thread.
 */
import { monotonicMs } from '../clock.ts';
import type { TransactionOptions } from './db.ts';
import type { DatabaseWaits } from './database-waits.ts';
import { FairQueue, writesWaiting } from './fair-queue.ts';
import type { DatabaseFile } from './file-identity.ts';
import type { Share } from './share.ts';
import type { OperationBody } from './sqlite-transaction.ts';
import type { WriterThread } from './sqlite-writer-thread.ts';
import { isFileLocked, isOutcomeUnknown, unavailable } from './unavailable.ts';
import type { WriteHealth } from './write-health.ts';

/** Maximum of operations that share a commit. */
const operationsPerCommitMax = 64;
/**
 * No operation joins a batch after this time, or after the duration of the last commit if that is longer. So the next
 * operation waits for little more than that, and at least half of the time is not spent waiting for the disk.
 */
const batchWorkMsMax = 10;

interface Operation {
  readonly body: OperationBody<unknown>;
  readonly isLong: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface SqliteCommitsOptions {
  readonly writer: WriterThread;
  /** Replaces a writer that has failed. */
  readonly newWriter: () => WriterThread;
  readonly file: DatabaseFile;
  readonly health: WriteHealth;
  readonly waits: DatabaseWaits;
  /** Receives the duration of each commit with its operations. */
  readonly onCommit: (ms: number) => void;
}

export class SqliteCommits {
  readonly #options: SqliteCommitsOptions;
  #writer: WriterThread;
  readonly #waiting: FairQueue<Operation>;
  #committing: Promise<void> | undefined;
  #lastCommitMs = 0;

  constructor(options: SqliteCommitsOptions) {
    this.#options = options;
    this.#writer = options.writer;
    this.#waiting = new FairQueue(writesWaiting(options.waits));
  }

  /** Resolves when the commit is durable. If `body` throws, its statements are undone. @throws DomainError `unavailable` */
  run<T>(body: OperationBody<T>, share: Share, { isLong = false }: TransactionOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const operation = { body, resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.push(share, { ...operation, isLong }, reject);
      this.#committing ??= this.#commitAll();
    });
  }

  /** Resolves when no operation waits or runs. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #commitAll(): Promise<void> {
    for (let first = this.#waiting.take(); first; first = this.#waiting.take()) await this.#commitTogether(first);
    // Synchronous with the last check of the queue, so a later operation starts the loop again.
    this.#committing = undefined;
  }

  /**
   * Replaces a writer that has failed.
   * @throws DatabaseReplacedError, also if the new one opened another file
   */
  async #workingWriter(): Promise<WriterThread> {
    const { newWriter, file } = this.#options;
    file.compare();
    if (!this.#writer.hasFailed) return this.#writer;
    await this.#writer.terminate();
    this.#writer = newWriter();
    await this.#writer.opened();
    file.compare();
    return this.#writer;
  }

  /**
   * Runs the first operation and those that wait or arrive before the commit. Results are delivered after the commit.
   * Errors are too: they may depend on the writes of another operation of the batch.
   */
  async #commitTogether(first: Operation): Promise<void> {
    const { file, health, onCommit } = this.#options;
    const operations = [first];
    const deliveries: (() => Promise<void>)[] = [];
    const startedMs = monotonicMs();
    const workMsMax = Math.max(batchWorkMsMax, this.#lastCommitMs);
    let committingMs: number;
    try {
      const writer = await this.#workingWriter();
      if (first.isLong) await beginWithoutBound(writer);
      else void writer.issue(['begin']);
      for (let next: Operation | undefined = first; next;) {
        deliveries.push(await runInSavepoint(writer, next));
        const isFull = operations.length >= operationsPerCommitMax || monotonicMs() - startedMs > workMsMax;
        next = isFull ? undefined : this.#waiting.take();
        if (next) operations.push(next);
      }
      committingMs = monotonicMs();
      await writer.issue(['commit']);
      assertInPlace(file);
    } catch (error) {
      health.failed();
      // A later flush could report success although this one lost data, so the file is opened again.
      if (isOutcomeUnknown(error)) this.#writer.markFailed();
      for (const { reject } of operations) reject(unavailable(error));
      return;
    }
    health.succeeded();
    this.#lastCommitMs = monotonicMs() - committingMs;
    onCommit(monotonicMs() - startedMs);
    for (const deliver of deliveries) void deliver();
  }
}

/** Waits for the lock of the file while another process works for minutes, such as on a migration. */
async function beginWithoutBound(writer: WriterThread): Promise<void> {
  for (;;) {
    try {
      await writer.issue(['begin']);
      return;
    } catch (error) {
      if (!isFileLocked(error)) throw error;
    }
  }
}

/**
 * @returns a function that delivers the result, to be called after the commit
 * @throws DomainError `unavailable` if the transaction cannot continue
 */
async function runInSavepoint(
  writer: WriterThread,
  { body, resolve, reject }: Operation,
): Promise<() => Promise<void>> {
  void writer.issue(['savepoint']);
  try {
    const value = await body((kind, text, values) => writer.issue([kind, text, values]));
    const released = writer.issue(['release']);
    return () => released.then(() => resolve(value), reject);
  } catch (error) {
    await writer.issue(['undo']);
    return async () => reject(error);
  }
}

/** A change in a replaced file is lost, so it is not acknowledged. @throws DomainError `unavailable` */
function assertInPlace(file: DatabaseFile): void {
  try {
    file.compare();
  } catch (error) {
    throw unavailable(error, true);
  }
}
