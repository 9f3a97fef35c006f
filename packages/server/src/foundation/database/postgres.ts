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
import { cancelCommit } from './cancel-commit.ts';
import { CoalescedCall } from './coalesced-call.ts';
import { OperationTimes } from './operation-times.ts';
import type { PostgresLocation } from './postgres-url.ts';
import { backendOf, newClient, newPool, openedMs, prepare, serverOf } from './postgres-connection.ts';
import type { ParameterValue } from './postgres-parameters.ts';
import { PoolerCheck, PoolerError } from './postgres-pooler.ts';
import { assertProven, isRepeatable, readOn, writesNothing } from './postgres-read.ts';
import { isWorthRetrying } from './postgres-retry.ts';
import { PostgresServers } from './postgres-servers.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { PrimaryProof } from './primary-proof.ts';
import { ProofWrites } from './proof-writes.ts';
import { assertSettled, untilSettled } from './settled.ts';
import { type Share, currentShare, currentSpan, inCurrentShare, runInShare } from './share.ts';
import { sql, type ManyStatement, type SqlValue, type Statement } from './sql.ts';
import { orUnavailable as orUnavailableNow, unavailable } from './unavailable.ts';
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
  readonly writes = new WriteHealth(() => runInShare(probeShare, () => this.transaction(changeNothing)));
  readonly usage = this;
  /** A transaction occupies a connection and locks rows. */
  readonly isWriterFree = false;
  readonly #servers: PostgresServers;
  readonly #readers: pg.Pool;
  readonly #writers: pg.Pool;
  readonly #provers: pg.Pool | undefined;
  readonly #proofWrites: ProofWrites | undefined;
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
      await db.#proofWrites?.attempt();
      db.#proofWrites?.start();
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
    if (servers.proof) {
      this.#provers = newPool(servers, { connectionsMax: 1, purpose: 'proof', accept });
      this.#proofWrites = this.#newProofWrites(this.#provers, servers.proof);
    }
    this.#poolerTimer = setInterval(() => void this.checkPooler(), poolerCheckMs).unref();
    const inClass = (workClass: ConfirmationClass): CoalescedCall =>
      new CoalescedCall(() => runInShare({ ...confirmationShare, workClass }, () => this.transaction(changeNothing)));
    this.#confirmations = { narrowing: inClass('narrowing'), ordinary: inClass('ordinary') };
  }

  #newProofWrites(pool: pg.Pool, proof: PrimaryProof): ProofWrites {
    const connect = (): Promise<pg.PoolClient> => this.#connect(pool);
    const onWaiting = (client: pg.PoolClient): void => {
      void this.#cancelCommit(client);
      this.#servers.doubted(client);
    };
    return new ProofWrites({ proof, auditKey: this.#auditKey, waits: this.#servers.waits, connect, onWaiting });
  }

  get primaryProof(): PrimaryProof | undefined {
    return this.#servers.proof;
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
          const value = await this.#attempt(inShare, share, isLong);
          this.times.observe('commit', monotonicMs() - startedMs);
          return value;
        } catch (error) {
          if (attempt === attemptsMax || !isWorthRetrying(error, this.#servers.handover)) throw error;
        }
      }
    };
    const commit = { name: 'db.commit', kind: 'client' } as const;
    const { proof, waits } = this.#servers;
    const settled = proof && share.removesRights ? untilSettled(proof, share, waits) : undefined;
    const inTurn = (): Promise<T> => this.#slots.run(share, run);
    return inSpan(currentSpan(), commit, () => this.#tracked(() => settled?.then(inTurn) ?? inTurn()));
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
        const result = await body(tx);
        orUnavailableNow(() => assertProven(client, this.#servers.proof));
        return result;
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
    const pools = [this.#readers, this.#writers, ...(this.#provers ? [this.#provers] : [])];
    const idle = pools.reduce((sum, { idleCount }) => sum + idleCount, 0);
    return { idle, active: pools.reduce((sum, { totalCount }) => sum + totalCount, 0) - idle };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.writes.stop();
    clearInterval(this.#poolerTimer);
    await Promise.allSettled([...this.#inProgress, this.#proofWrites?.stop()]);
    await Promise.all([this.#readers.end(), this.#writers.end(), this.#provers?.end()]);
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
        if (this.#servers.isOfPrimary(client) && !this.#isEarlier(client)) return client;
        client.release(true);
      } catch (error) {
        this.#servers.failed(server);
        if (++failures < this.#servers.count) continue;
        if (!(await this.#servers.handover.mayRetry())) throw error;
        failures = 0;
      }
    }
  }

  /** Whether another server is known to have been promoted after the server of the connection. */
  #isEarlier(client: pg.PoolClient): boolean {
    const server = serverOf(client);
    return server !== undefined && this.#servers.proof?.isEarlier(server) === true;
  }

  /**
   * Networks and servers lose connections without a failure of the database, also without a message. So a statement that writes
   * nothing is sent once more, on a connection that was opened after the failure. Both attempts have the time of one.
   * @throws Error
   */
  async #readOnce(pool: pg.Pool, statement: Statement<unknown>, values: readonly ParameterValue[]): Promise<unknown[]> {
    const { proof, waits } = this.#servers;
    const { statementMsMax, answerMsMax } = waits;
    const client = await this.#connect(pool);
    const untilMs = monotonicMs() + answerMsMax;
    const read = { statement, values };
    // Until then, the server has answered, because it ends a statement after `statementMsMax`. The rest is for the repetition.
    const firstMsMax = writesNothing(statement) ? Math.min(answerMsMax, statementMsMax + networkMs) : answerMsMax;
    try {
      return await readOn(client, read, firstMsMax, proof);
    } catch (error) {
      const { handover } = this.#servers;
      handover.observe(error);
      if (!isRepeatable(statement, error)) throw error;
      const nextUntilMs = Math.max(untilMs, handover.untilMs);
      const other = await this.#connectAfter(pool, monotonicMs(), nextUntilMs);
      if (other === undefined) throw error;
      return await readOn(other, read, Math.min(answerMsMax, Math.max(1, nextUntilMs - monotonicMs())), proof);
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

  async #attempt<T>(body: (tx: Transaction) => Promise<T>, share: Share, isLong: boolean): Promise<T> {
    const client = await orUnavailable(this.#connect(this.#writers)).catch((error: unknown) => {
      this.writes.failed();
      throw error;
    });
    const tx = new PostgresTransaction(client, {
      auditKey: this.#auditKey,
      waits: this.#servers.waits,
      traceId: share.traceId,
      isLong,
    });
    // The connection is closed unless the transaction is committed or rolled back.
    let isReusable = false;
    try {
      if (this.#servers.proof && share.removesRights) assertSettled(this.#servers.proof, serverOf(client));
      const value = await body(tx);
      await tx.commit();
      isReusable = true;
      this.writes.succeeded();
      return value;
    } catch (error) {
      if (error instanceof Error) this.#servers.handover.observe(error.cause);
      isReusable = await tx.rollBack();
      if (tx.didWriteFail) this.writes.failed();
      if (tx.mayCommitWait) void this.#cancelCommit(client, this.#servers.proof?.validMs);
      throw error;
    } finally {
      client.release(!isReusable);
    }
  }

  /** @param msMin before the commit ceases to wait */
  #cancelCommit(client: pg.PoolClient, msMin = 0): Promise<void> {
    return cancelCommit(this.#writers, backendOf(client), msMin);
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

/** A client takes what a confirmation precedes as the response to a removal of rights. */
const confirmationShare = { owner: 'confirmation', isOneAtATime: true, removesRights: true } as const;
const probeShare = { ...confirmationShare, workClass: 'narrowing', removesRights: false } as const;
/** For a commit that waits for the standby, and so for everything that was visible when it began. */
const changeNothing = async (): Promise<void> => undefined;
/** Reads lock nothing, so they have their own turns: they neither wait for their owner's changes nor delay them. */
const readShare = (share: Share): Share => ({ ...share, owner: `${share.owner}, reads`, isOneAtATime: false });

// The first statement of a transaction takes its snapshot.
const takeSnapshot = sql<object>('take_snapshot', 'select 1');

const orUnavailable = <T>(result: Promise<T>): Promise<T> =>
  result.catch((error: unknown) => {
    throw unavailable(error);
  });
