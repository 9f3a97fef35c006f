/**
 * The PostgreSQL driver, for many instances on one database. Shared reads have their own connections, so writes never
 * delay a verification. A statement sees everything that was committed before the server started it (read committed), and
 * the server starts it after it was sent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { limits } from '@keyreeve/contract/limits';
import { monotonicMs } from '../clock.ts';
import { inSpan } from '../tracing.ts';
import type {
  ConfirmationClass,
  AuditKey,
  BeforeRead,
  Db,
  DbConnections,
  ReadOptions,
  Reader,
  Transaction,
  TransactionOptions,
  Procedure,
} from './db.ts';
import { CoalescedCall } from './coalesced-call.ts';
import { OperationTimes } from './operation-times.ts';
import type { PostgresLocation } from './postgres-url.ts';
import { Batch, BatchItem } from './postgres-batch.ts';
import {
  backendOf,
  isConnectionLost,
  isWorthRetrying,
  newClient,
  newPool,
  openedMs,
  prepare,
} from './postgres-connection.ts';
import type { ParameterValue } from './postgres-parameters.ts';
import { PoolerCheck, PoolerError } from './postgres-pooler.ts';
import { PostgresServers } from './postgres-servers.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { type Share, currentShare, currentSpan, inCurrentShare, runInShare } from './share.ts';
import { sql, type ManyStatement, type SqlValue, type Statement } from './sql.ts';
import { isOutcomeUnknown, isUnavailable, orUnavailable as orUnavailableNow, unavailable } from './unavailable.ts';
import { WriteHealth } from './write-health.ts';
import { WriterSlots, writersMax } from './writer-slots.ts';

const attemptsMax = 3;
/** For a statement and its response on the network. */
const networkMs = 250;
const poolerCheckMs = limits.postgresPoolerCheckSeconds * 1000;

export class PostgresDb implements Db {
  readonly dialect = 'postgres';
  readonly times = new OperationTimes();
  readonly sharedReads = {
    concurrentReadsMax: limits.postgresReadersMax,
    immediateBatchSize: limits.lookupBatchMax,
  };
  readonly writes = new WriteHealth(() => this.confirm());
  readonly usage = this;
  /** A transaction occupies a connection and locks rows. */
  readonly isWriterFree = false;
  readonly #servers: PostgresServers;
  readonly #readers: pg.Pool;
  readonly #writers: pg.Pool;
  readonly #poolers: PoolerCheck;
  readonly #poolerTimer: NodeJS.Timeout;
  /** While a pooler does not keep sessions, no statement runs. */
  #refusal: PoolerError | undefined;
  readonly #slots: WriterSlots;
  readonly #confirmations: Readonly<Record<ConfirmationClass, CoalescedCall>>;
  readonly #auditKey: AuditKey;
  readonly #beforeRead: BeforeRead;
  readonly #inProgress = new Set<Promise<unknown>>();
  #isClosing = false;

  /** @throws DomainError `unavailable` if the primary cannot be reached, or can be reached only through a pooler that shares sessions */
  static async open(location: PostgresLocation, auditKey: AuditKey, beforeRead?: BeforeRead): Promise<PostgresDb> {
    const db = orUnavailableNow(() => new PostgresDb(location, auditKey, beforeRead));
    try {
      await orUnavailable(db.#checkPooler());
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  private constructor(location: PostgresLocation, auditKey: AuditKey, beforeRead: BeforeRead = () => undefined) {
    this.#beforeRead = beforeRead;
    this.#auditKey = auditKey;
    const servers = (this.#servers = new PostgresServers(location));
    this.#slots = new WriterSlots(servers.waits);
    this.#poolers = new PoolerCheck({
      newClient: (more) => newClient(servers, { application_name: 'keyreeve check', ...more }),
      prepare: (client) => prepare(client, servers),
    });
    const accept = (client: pg.Client, backend: number): Promise<void> => this.#poolers.accept(client, backend);
    const { concurrentReadsMax } = this.sharedReads;
    this.#readers = newPool(servers, { connectionsMax: concurrentReadsMax, purpose: 'reader', accept });
    this.#writers = newPool(servers, { connectionsMax: writersMax, purpose: 'writer', accept });
    this.#poolerTimer = setInterval(() => void this.checkPooler(), poolerCheckMs).unref();
    const inClass = (workClass: ConfirmationClass): CoalescedCall =>
      new CoalescedCall(() =>
        runInShare({ workClass, owner: 'confirmation', isOneAtATime: true }, () => this.transaction(changeNothing)),
      );
    this.#confirmations = { narrowing: inClass('narrowing'), ordinary: inClass('ordinary') };
  }

  all<Row>(
    statement: Statement<Row>,
    values: readonly SqlValue[] = [],
    { isShared = false }: ReadOptions = {},
  ): Promise<Row[]> {
    const read = async (): Promise<Row[]> => {
      const pool = isShared ? this.#readers : this.#writers;
      return (await this.#readFrom(pool, statement, values)) as Row[];
    };
    return this.#tracked(() => (isShared ? read() : this.#slots.run(readShare(currentShare()), read)));
  }

  async get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return (await this.all(statement, values))[0];
  }

  getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]> {
    const results: (Row | undefined)[] = Array.from({ length: valuesOfEach.length });
    const [first] = valuesOfEach;
    if (first === undefined) return Promise.resolve(results);
    return this.#tracked(async () => {
      const startedMs = monotonicMs();
      const columns = first.map((_, column) => valuesOfEach.map((values) => values[column] ?? null));
      const rows = await this.#readFrom(this.#readers, statement, columns);
      for (const row of rows as (Row & { ordinal: number })[]) results[row.ordinal - 1] = row;
      this.times.observe('read', monotonicMs() - startedMs);
      return results;
    });
  }

  transaction<T>(body: (tx: Transaction) => Promise<T>, { isLong = false }: TransactionOptions = {}): Promise<T> {
    const share = currentShare();
    const inShare = inCurrentShare(body);
    const run = async (): Promise<T> => {
      const startedMs = monotonicMs();
      for (let attempt = 1; ; attempt++) {
        try {
          const value = await this.#attempt(inShare, share.traceId, isLong);
          this.times.observe('commit', monotonicMs() - startedMs);
          return value;
        } catch (error) {
          if (attempt === attemptsMax || !this.#isWorthRetrying(error)) throw error;
        }
      }
    };
    const commit = { name: 'db.commit', kind: 'client' } as const;
    return inSpan(currentSpan(), commit, () => this.#tracked(() => this.#slots.run(share, run)));
  }

  perform<Input, Output>({ runTx }: Procedure<Input, Output>, input: Input): Promise<Output> {
    return this.transaction((tx) => runTx(tx, input));
  }

  confirm(workClass: ConfirmationClass = 'narrowing'): Promise<void> {
    return this.#confirmations[workClass].call();
  }

  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      const client = await orUnavailable(this.#connect(this.#writers));
      try {
        const options = { auditKey: this.#auditKey, waits: this.#servers.waits, isLong: true, isSnapshot: true };
        const tx = new PostgresTransaction(client, options);
        await tx.get(takeSnapshot);
        return await body(tx);
      } finally {
        // Closing the connection ends the transaction.
        client.release(true);
      }
    };
    return this.#tracked(() => this.#slots.run(readShare(currentShare()), run));
  }

  get pooler(): string | undefined {
    return this.#poolers.name;
  }

  get connections(): DbConnections {
    const pools = [this.#readers, this.#writers];
    const idle = pools.reduce((sum, { idleCount }) => sum + idleCount, 0);
    return { idle, active: pools.reduce((sum, { totalCount }) => sum + totalCount, 0) - idle };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.writes.stop();
    clearInterval(this.#poolerTimer);
    await Promise.allSettled(this.#inProgress);
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  /**
   * Whether a pooler keeps sessions. The operations of this database fail until it does. A check that can't be made changes
   * nothing. Called each minute: a pooler can be put in place, or change its mode, while connections stay open.
   */
  async checkPooler(): Promise<void> {
    try {
      await this.#tracked(() => this.#checkPooler());
      this.#refusal = undefined;
    } catch (error) {
      if (error instanceof PoolerError) this.#refusal = error;
    }
  }

  async #checkPooler(): Promise<void> {
    const client = await this.#connect(this.#writers, true);
    let isReusable = false;
    try {
      await this.#poolers.check(client, backendOf(client));
      isReusable = true;
    } finally {
      client.release(!isReusable);
    }
  }

  /** Whether nothing was committed, and another attempt may succeed. */
  #isWorthRetrying(error: unknown): boolean {
    if (!(error instanceof Error)) return false;
    if (isWorthRetrying(error.cause)) return true;
    const { isExpected } = this.#servers.handover;
    return isExpected && isUnavailable(error) && !isOutcomeUnknown(error) && isConnectionLost(error.cause);
  }

  /**
   * A connection to the primary. Tries each server once, or until the next primary if the last one has announced its end.
   * @param isForCheck also while operations are refused
   * @throws Error
   */
  async #connect(pool: pg.Pool, isForCheck = false): Promise<pg.PoolClient> {
    if (this.#refusal && !isForCheck) throw this.#refusal;
    for (let failures = 0; ;) {
      const server = this.#servers.next;
      try {
        const client = await pool.connect();
        if (this.#servers.isOfPrimary(client)) return client;
        client.release(true);
      } catch (error) {
        this.#servers.failed(server);
        if (++failures < this.#servers.count) continue;
        if (!(await this.#servers.handover.mayRetry())) throw error;
        failures = 0;
      }
    }
  }

  /**
   * Networks and servers lose connections without a failure of the database, also without a message. So a statement that writes
   * nothing is sent once more, on a connection that was opened after the failure. Both attempts have the time of one.
   * @throws Error
   */
  async #readOnce(pool: pg.Pool, statement: Statement<unknown>, values: readonly ParameterValue[]): Promise<unknown[]> {
    const { statementMsMax, answerMsMax } = this.#servers.waits;
    const client = await this.#connect(pool);
    const untilMs = monotonicMs() + answerMsMax;
    const isRepeatable = writesNothing(statement);
    // Until then, the server has answered, because it ends a statement after `statementMsMax`. The rest is for the repetition.
    const firstMsMax = isRepeatable ? Math.min(answerMsMax, statementMsMax + networkMs) : answerMsMax;
    try {
      return await readOn(client, statement, values, firstMsMax);
    } catch (error) {
      const { handover } = this.#servers;
      handover.observe(error);
      if (!isRepeatable || !isConnectionLost(error)) throw error;
      const nextUntilMs = Math.max(untilMs, handover.untilMs);
      const other = await this.#connectAfter(pool, monotonicMs(), nextUntilMs);
      if (other === undefined) throw error;
      return await readOn(other, statement, values, Math.min(answerMsMax, Math.max(1, nextUntilMs - monotonicMs())));
    }
  }

  /**
   * The other connections of the pool may be lost by the same cause, so they are closed.
   * @returns a connection that was opened after `sinceMs`; undefined if there is none at `untilMs`
   * @throws Error
   */
  async #connectAfter(pool: pg.Pool, sinceMs: number, untilMs: number): Promise<pg.PoolClient | undefined> {
    const open = async (): Promise<pg.PoolClient> => {
      for (;;) {
        const client = await this.#connect(pool);
        if (openedMs(client) >= sinceMs) return client;
        client.release(true);
      }
    };
    const opening = open();
    const end = new AbortController();
    const late = sleep(Math.max(0, untilMs - monotonicMs()), undefined, { signal: end.signal }).catch(() => undefined);
    const client = await Promise.race([opening, late]).finally(() => end.abort());
    if (client === undefined)
      void opening.then(
        (unused) => unused.release(),
        () => undefined,
      );
    return client;
  }

  /** @throws DomainError `unavailable` */
  async #readFrom(pool: pg.Pool, statement: Statement<unknown>, values: readonly ParameterValue[]): Promise<unknown[]> {
    this.#beforeRead(undefined);
    try {
      return await this.#readOnce(pool, statement, values);
    } catch (error) {
      this.times.failedReads++;
      throw unavailable(error);
    }
  }

  async #attempt<T>(body: (tx: Transaction) => Promise<T>, traceId: string | undefined, isLong: boolean): Promise<T> {
    const client = await orUnavailable(this.#connect(this.#writers)).catch((error: unknown) => {
      this.writes.failed();
      throw error;
    });
    const tx = new PostgresTransaction(client, {
      auditKey: this.#auditKey,
      waits: this.#servers.waits,
      traceId,
      isLong,
    });
    // The connection is closed unless the transaction is committed or rolled back.
    let isReusable = false;
    try {
      const value = await body(tx);
      await tx.commit();
      isReusable = true;
      this.writes.succeeded();
      return value;
    } catch (error) {
      if (error instanceof Error) this.#servers.handover.observe(error.cause);
      isReusable = await tx.rollBack();
      if (tx.didWriteFail) this.writes.failed();
      if (tx.mayCommitWait) void this.#cancelCommit(client);
      throw error;
    } finally {
      client.release(!isReusable);
    }
  }

  /** A commit waits for its standby indefinitely and occupies a connection of the server, even after this side closed it. */
  async #cancelCommit(client: pg.PoolClient): Promise<void> {
    await this.#writers.query(cancelWaiting, [backendOf(client)]).catch(() => undefined);
  }

  async #tracked<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isClosing) throw unavailable(new Error('the database is closed'));
    const result = run();
    this.#inProgress.add(result);
    try {
      return await result;
    } finally {
      this.#inProgress.delete(result);
    }
  }
}

/** For a commit that waits for the standby, and so for everything that was visible when it began. */
const changeNothing = async (): Promise<void> => undefined;
/** Reads lock nothing, so they have their own turns: they neither wait for their owner's changes nor delay them. */
const readShare = (share: Share): Share => ({ ...share, owner: `${share.owner}, reads`, isOneAtATime: false });

// Meanwhile the process id may belong to another connection, so the conditions identify the waiting commit.
const cancelWaiting = `select pg_cancel_backend(pid) from pg_stat_activity
  where pid = $1 and wait_event = 'SyncRep' and usename = current_user and application_name like 'keyreeve%'`;
// The first statement of a transaction takes its snapshot.
const takeSnapshot = sql<object>('take_snapshot', 'select 1');

/** Releases the connection, which is closed after an error. */
async function readOn(
  client: pg.PoolClient,
  statement: Statement<unknown>,
  values: readonly ParameterValue[],
  msMax: number,
): Promise<unknown[]> {
  const item = new BatchItem(statement, values, true);
  let isBroken = true;
  try {
    await new Batch([item], msMax).run(client);
    isBroken = false;
    return item.rows ?? [];
  } finally {
    client.release(isBroken);
  }
}

const writesNothing = ({ text }: Statement<unknown>): boolean =>
  /^\s*(?:select|with)\b/.test(text.postgres) && !/\b(?:insert|update|delete|merge)\b/.test(text.postgres);

const orUnavailable = <T>(result: Promise<T>): Promise<T> =>
  result.catch((error: unknown) => {
    throw unavailable(error);
  });
