/**
 * A transaction on a PostgreSQL connection. Statements that are issued in one turn are one batch. The first batch begins the
 * transaction and the last one commits it, so a transaction of two batches takes two round trips.
 */
import type { PoolClient } from 'pg';
import type { DatabaseWaits } from './database-waits.ts';
import type { AuditKey, Transaction } from './db.ts';
import { Batch, BatchItem } from './postgres-batch.ts';
import { isWorthRetrying, queryMsMax, sqlState } from './postgres-connection.ts';
import { sql, type SqlValue, type Statement } from './sql.ts';
import { isUniqueViolation, unavailable } from './unavailable.ts';

interface Issued {
  readonly item: BatchItem;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface PostgresTransactionOptions {
  readonly auditKey: AuditKey;
  readonly waits: DatabaseWaits;
  readonly traceId?: string | undefined;
  readonly isLong: boolean;
  /** The transaction cannot write, and all reads see one snapshot. */
  readonly isSnapshot?: boolean;
}

export class PostgresTransaction implements Transaction {
  readonly auditKey: AuditKey;
  readonly traceId: string | undefined;
  readonly #client: PoolClient;
  readonly #msMax: number;
  /** The statements that begin the transaction, until they are sent. */
  readonly #begin: BatchItem[];
  /** The next batch, in the order in which its statements run. */
  readonly #waiting: Issued[] = [];
  /** Whether a caller awaits a waiting statement. Otherwise the batch waits for another statement. */
  #isDue = false;
  /** Resolves when the batch in progress has succeeded or failed. */
  #inProgress: Promise<void> | undefined;
  /** The first failure. PostgreSQL has then aborted the transaction, and later statements are rejected with this error. */
  #failure: Error | undefined;
  #hasEnded = false;
  #isReusable = true;
  #didWriteFail = false;
  #mayCommitWait = false;

  constructor(client: PoolClient, options: PostgresTransactionOptions) {
    const { auditKey, waits, traceId, isLong, isSnapshot = false } = options;
    this.auditKey = auditKey;
    this.traceId = traceId;
    this.#client = client;
    this.#msMax = queryMsMax(isLong, waits);
    const statements = [isSnapshot ? beginReadOnly : begin, ...(isLong ? [setLong] : [])];
    this.#begin = statements.map((statement) => new BatchItem(statement, [], false));
  }

  /** Whether the transaction could not begin or commit, except for a conflict with another transaction. */
  get didWriteFail(): boolean {
    return this.#didWriteFail;
  }

  /** Whether the connection failed after the commit was sent: the server may still wait for the standby. */
  get mayCommitWait(): boolean {
    return this.#mayCommitWait;
  }

  all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#issue(new BatchItem(statement, values, true), ({ rows = [] }) => rows as Row[]);
  }

  get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return this.#issue(new BatchItem(statement, values, true), ({ rows = [] }) => rows[0] as Row | undefined);
  }

  run(statement: Statement<never>, values: readonly SqlValue[] = []): Promise<number> {
    return this.#issue(new BatchItem(statement, values, false), ({ rowCount }) => rowCount);
  }

  enqueue(statement: Statement<never>, values: readonly SqlValue[] = []): void {
    if (this.#hasEnded) throw ended();
    const item = new BatchItem(statement, values, false);
    this.#waiting.push({ item, resolve: () => undefined, reject: () => undefined });
  }

  /**
   * Sends the waiting statements and the commit. Success means that the commit is durable.
   * @throws DomainError `unavailable`, with `isOutcomeUnknown` unless nothing was committed. The outcome is unknown if the
   *   connection breaks before the response, or if the server shuts down.
   */
  async commit(): Promise<void> {
    // The body may not have awaited each statement.
    while (this.#inProgress) await this.#inProgress;
    if (this.#failure) throw this.#failure;
    this.#hasEnded = true;
    await this.#send(new BatchItem(commitStatement, [], false));
    if (this.#failure) throw this.#failure as Error;
  }

  /** Waits for the batch in progress and ends the transaction. @returns whether the connection can be used again */
  async rollBack(): Promise<boolean> {
    this.#hasEnded = true;
    this.#rejectWaiting(ended());
    while (this.#inProgress) await this.#inProgress;
    // A broken connection would not respond to a rollback either.
    if (!this.#isReusable || this.#begin.length > 0) return this.#isReusable;
    const batch = new Batch([new BatchItem(rollbackStatement, [], false)], this.#msMax);
    return batch.run(this.#client).then(
      () => true,
      () => false,
    );
  }

  #issue<T>(item: BatchItem, resultOf: (item: BatchItem) => T): Promise<T> {
    const result = new Promise<T>((resolve, reject) => {
      if (this.#failure ?? this.#hasEnded) return reject(this.#failure ?? ended());
      this.#waiting.push({ item, resolve: () => resolve(resultOf(item)), reject });
      if (!this.#isDue && !this.#inProgress) process.nextTick(() => this.#sendIfDue());
      this.#isDue = true;
    });
    // The body may await this statement late or never. The commit reports the failure.
    result.catch(() => undefined);
    return result;
  }

  #sendIfDue(): void {
    if (this.#isDue && !this.#inProgress && !this.#hasEnded) this.#inProgress = this.#send();
  }

  /** Sends the waiting statements, and the commit after them. Records a failure instead of throwing it. */
  async #send(commit?: BatchItem): Promise<void> {
    const issued = this.#waiting.splice(0);
    const begin = this.#begin.splice(0);
    this.#isDue = false;
    const last = commit ? [new BatchItem(logMessage, [], false), commit] : [];
    const batch = new Batch([...begin, ...issued.map(({ item }) => item), ...last], this.#msMax);
    try {
      const warning = await this.#run(batch, commit);
      if (warning) this.#fail(warning, true, true);
      else if (commit && commit.command !== 'COMMIT') this.#fail(new Error('the transaction was rolled back'), true);
    } catch (error) {
      const isConnection = sqlState(error) === undefined;
      // 0: the log message; 1: the commit; 2: after it, where a server reports that it shuts down.
      const step = batch.completed - begin.length - issued.length;
      const isCommit = commit !== undefined && (isConnection || step >= 0);
      const mayBeCommitted = isConnection ? batch.isSent : step > 1 || (step === 1 && !wasRejected(error));
      const isUnknown = isCommit && mayBeCommitted;
      if (isConnection) this.#isReusable = false;
      this.#mayCommitWait = isConnection && isUnknown;
      this.#fail(error, isCommit || batch.completed < begin.length, isUnknown);
    }
    this.#inProgress = undefined;
    for (const [index, { resolve, reject }] of issued.entries())
      if (begin.length + index < batch.completed) resolve();
      else reject(this.#failure);
    if (this.#failure) this.#rejectWaiting(this.#failure);
    if (this.#isDue) process.nextTick(() => this.#sendIfDue());
  }

  /** @returns a warning of the commit */
  async #run(batch: Batch, commit: BatchItem | undefined): Promise<object | undefined> {
    let warning: object | undefined;
    // A commit that stops waiting for its standby succeeds with a warning: it would be lost with this server.
    const onNotice = (notice: { readonly code?: string | undefined }): void => {
      if (notice.code?.startsWith('01') && batch.next === commit) warning = notice;
    };
    if (commit) this.#client.on('notice', onNotice);
    try {
      await batch.run(this.#client);
    } finally {
      this.#client.removeListener('notice', onNotice);
    }
    return warning;
  }

  /** @param isWrite whether the transaction could not begin or commit */
  #fail(error: unknown, isWrite: boolean, isUnknown = false): void {
    this.#failure = unavailable(error, isUnknown);
    this.#didWriteFail = isWrite && !isWorthRetrying(error) && !isUniqueViolation(this.#failure);
    if (isUnknown) this.#isReusable = false;
  }

  #rejectWaiting(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

const ended = (): Error => new Error('the transaction has ended');

/** Classes 23, 25 and 40: a deferred constraint, a failed transaction, a rollback. */
const wasRejected = (error: unknown): boolean => /^(?:23|25|40)/.test(sqlState(error) ?? '');

// The default of the session can be another isolation, and a pooler can lose it.
const begin = sql('begin', 'begin isolation level read committed');
const beginReadOnly = sql('begin_snapshot', 'begin isolation level repeatable read read only');
// Long transactions wait for files between statements. The idle bound ends those whose client has gone.
const setLong = sql(
  'set_long_transaction',
  `select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),
     set_config('idle_in_transaction_session_timeout', '60s', true)`,
);
// PostgreSQL does not wait for the standby when it commits a transaction without changes. Such a transaction may have read
// a commit that has not reached the standby yet. With a logical message in its log, it waits like that commit.
// What the durability of the commit needs is set in the transaction, so that it does not depend on the session: a pooler can
// give a connection another session at any time, until its next check (`postgres-pooler.ts`).
const logMessage = sql(
  'log_message',
  `select pg_logical_emit_message(true, 'keyreeve', ''), set_config('client_min_messages', 'warning', true),
     case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
       then set_config('synchronous_commit', 'on', true) end`,
);
const commitStatement = sql('commit', 'commit');
const rollbackStatement = sql('rollback', 'rollback');
