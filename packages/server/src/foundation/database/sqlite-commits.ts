/**
 * Runs the transactions of an SQLite file. Operations that wait or arrive while a transaction is open share its commit, in
 * the order of `fair-queue.ts`. Each has a savepoint, so its failure does not affect the others, and is acknowledged only
 * after the commit.
 *
 * The end of an operation is sent with the start of the next one, or with the commit. So a single operation whose
 * statements are issued together needs two messages to the writer thread. Procedures need no wait at all: those that wait
 * together are one message with their commit.
 */
import { monotonicMs } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { TransactionOptions } from './db.ts';
import type { DatabaseWaits } from './database-waits.ts';
import { FairQueue, writesWaiting } from './fair-queue.ts';
import type { DatabaseFile } from './file-identity.ts';
import type { Share } from './share.ts';
import { handled, type CalledProcedure } from './sqlite-steps.ts';
import type { OperationBody } from './sqlite-transaction.ts';
import type { WriterThread } from './sqlite-writer-thread.ts';
import { isFileLocked, isOutcomeUnknown, isUnavailable, unavailable } from './unavailable.ts';
import type { WriteHealth } from './write-health.ts';

/** Maximum of operations that share a commit. */
const operationsPerCommitMax = 64;
/** Maximum of procedures that are sent together. */
const proceduresPerMessageMax = 16;
/**
 * No operation joins a batch after this time, or after the duration of the last commit if that is longer. So the next
 * operation waits for little more than that, and at least half of the time is not spent waiting for the disk.
 */
const batchWorkMsMax = 10;

interface Operation {
  /** The writer thread runs a procedure, the main thread a body. */
  readonly work: OperationBody<unknown> | CalledProcedure;
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
  /** That wait or run. */
  #bodies = 0;

  constructor(options: SqliteCommitsOptions) {
    this.#options = options;
    this.#writer = options.writer;
    this.#waiting = new FairQueue(writesWaiting(options.waits));
  }

  /** Resolves when the commit is durable. If the work throws, its statements are undone. @throws DomainError `unavailable` */
  run<T>(
    work: OperationBody<T> | CalledProcedure,
    share: Share,
    { isLong = false }: TransactionOptions = {},
  ): Promise<T> {
    const isBody = typeof work === 'function';
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (isBody) this.#bodies++;
    this.#waiting.push(share, { work, resolve: resolve as (value: unknown) => void, reject, isLong }, reject);
    this.#committing ??= this.#commitAll();
    return isBody ? promise.finally(() => this.#bodies--) : promise;
  }

  /** Whether neither a body waits nor runs, but procedures at most. */
  get isFree(): boolean {
    return this.#bodies === 0;
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
    const outcomes: Outcome[] = [];
    const startedMs = monotonicMs();
    const workMsMax = Math.max(batchWorkMsMax, this.#lastCommitMs);
    let committingMs: number;
    try {
      const writer = await this.#workingWriter();
      if (first.isLong) await beginWithoutBound(writer);
      else void writer.issue(['begin']);
      for (let next: Operation | undefined = first; next;) {
        outcomes.push(
          typeof next.work === 'function'
            ? await runInSavepoint(writer, next.work)
            : callInSavepoint(writer, next.work),
        );
        // Otherwise the time would not be seen until all of them are done.
        if (typeof next.work !== 'function' && outcomes.length % proceduresPerMessageMax === 0)
          await outcomes.at(-1)?.result.catch(() => undefined);
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
      for (const [index, { reject }] of operations.entries()) void failed(outcomes[index], error).then(reject);
      return;
    }
    health.succeeded();
    this.#lastCommitMs = monotonicMs() - committingMs;
    onCommit(monotonicMs() - startedMs);
    for (const [index, { resolve, reject }] of operations.entries()) outcomes[index]?.result.then(resolve, reject);
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

/** What an operation returns after the commit. In an object, because an async function that returned the promise would wait for it. */
interface Outcome {
  /** Rejects if the operation was undone. */
  readonly result: Promise<unknown>;
}

/** @throws DomainError `unavailable` if the transaction cannot continue */
async function runInSavepoint(writer: WriterThread, body: OperationBody<unknown>): Promise<Outcome> {
  void writer.issue(['savepoint']);
  try {
    const value = await body((kind, text, values) => writer.issue([kind, text, values]));
    return { result: handled(writer.issue(['release']).then(() => value)) };
  } catch (error) {
    await writer.issue(['undo']);
    return { result: handled(Promise.reject(error)) };
  }
}

function callInSavepoint(writer: WriterThread, called: CalledProcedure): Outcome {
  void writer.issue(['savepoint']);
  const value = writer.issue(['call', called]);
  const released = writer.issue(['release']);
  return { result: handled(value.then((found) => released.then(() => found))) };
}

/**
 * @returns the error of an operation whose transaction failed: of one that was undone, the outcome is known. One without a result,
 *   because the writer thread has ended, may have been rejected.
 */
async function failed(outcome: Outcome | undefined, error: unknown): Promise<unknown> {
  const own = await outcome?.result.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (own === undefined) return unavailable(error);
  if (!isUnavailable(own)) return unavailable(new Error('a commit failed', { cause: error }));
  const { code, options } = unavailable(error);
  return new DomainError(code, { ...options, mayBeRejected: true });
}

/** A change in a replaced file is lost, so it is not acknowledged. @throws DomainError `unavailable` */
function assertInPlace(file: DatabaseFile): void {
  try {
    file.compare();
  } catch (error) {
    throw unavailable(error, true);
  }
}
