/** The database interface of stores. `sqlite.ts` is the embedded driver, `postgres.ts` the driver for many instances. */
import type { DatabaseFile } from './file-identity.ts';
import type { OperationTimes } from './operation-times.ts';
import type { PrimaryProof } from './primary-proof.ts';
import type { WorkClass } from './share.ts';
import type { WriteHealth } from './write-health.ts';
import type { Dialect, ManyStatement, SqlValue, Statement } from './sql.ts';

/** The capacity that a confirmation uses. */
export type ConfirmationClass = Exclude<WorkClass, 'draw'>;

/** Reads from one snapshot. */
export interface Reader {
  all<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row[]>;
  get<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row | undefined>;
}

/** The installation's key for the MACs that chain the audit events (`audit/chain.ts`). */
export interface AuditKey {
  /** Of the root key that the key derives from. Absent: 1. */
  readonly rootKeyVersion?: number;
  mac(text: string): Uint8Array;
  /** The key, 32 bytes: the writer thread of SQLite computes the same. */
  reveal(): Uint8Array;
}

/**
 * A transaction: its reads see its own writes, and either all of its writes commit or none.
 *
 * Statements that are issued in one turn, without waiting for each other, run in that order and are sent together. After
 * one fails, the following statements fail as well.
 */
export interface Transaction extends Reader {
  readonly auditKey: AuditKey;
  /** Of the request, for its audit events, if a trusted proxy has sent it. */
  readonly traceId?: string | undefined;
  /** @returns the number of rows changed */
  run(statement: Statement<never>, values?: readonly SqlValue[]): Promise<number>;
  /**
   * Sends the statement together with the next one, which runs after it, or with the commit. If the statement fails, the
   * transaction is rolled back.
   * @throws Error if the transaction has ended
   */
  enqueue(statement: Statement<never>, values?: readonly SqlValue[]): void;
}

/** A body of transactions that needs nothing but its input (`procedure.ts`). */
export interface Procedure<Input, Output> {
  /** The file that exports it, as of `ownScript`. It is an entry point of the build (`packages/server/build.ts`). */
  readonly script: string;
  /** The name of the export. */
  readonly name: string;
  /** @param input is copied between threads (structured clone), so it has no functions, and a `Buffer` arrives as `Uint8Array` */
  readonly runTx: (tx: Transaction, input: Input) => Promise<Output>;
}

export interface TransactionOptions {
  /**
   * The transaction may take minutes, such as a migration or a restore: time limits do not apply, nor does that of the wait for
   * another process that writes an SQLite file.
   */
  readonly isLong?: boolean;
}

export interface ReadOptions {
  /** Verifications wait for the read, so it must not wait for writes: like {@link Db.getMany}, it has its own connections. */
  readonly isShared?: boolean;
}

/** Called before each read. @throws DatabaseReplacedError, or another error that refuses the read */
export type BeforeRead = (file: DatabaseFile | undefined) => void;

/** Connections of this process to a database server: in use, and open for the next operation. */
export interface DbConnections {
  readonly active: number;
  readonly idle: number;
}

/** How the coalescing reader groups lookups for this database. */
export interface SharedReads {
  /** Maximum of concurrent reads. Further lookups wait for the next read. */
  readonly concurrentReadsMax: number;
  /** This number of waiting lookups is read immediately, before the turn of the event loop ends. */
  readonly immediateBatchSize: number;
}

/** Where usage and times of last use are stored. */
export interface UsageDb extends Reader {
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T>;
}

/** What the second file was, when it became an empty one or, for an older copy, went on with what it had. */
export type UsageFileRenewal = 'missing' | 'unusable' | 'foreign' | 'older';

/** The second file of an embedded database (`usage-file.ts`). */
export interface SecondFile extends UsageDb {
  readonly path: string;
  /** Receives that the file has lost counts, and why. */
  onRenewed: (reason: UsageFileRenewal) => void;
  /** Records in a transaction of the main file how many commits this file has. Reads nothing. */
  recordCommitsTx(tx: Transaction): void;
  /** After the content of the main file was replaced. @throws DomainError `unavailable` */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A database. A read sees everything that was committed before the call. All methods throw DomainError `unavailable` when
 * the database cannot be reached. With `isOutcomeUnknown`, a commit may or may not have happened.
 */
export interface Db {
  readonly dialect: Dialect;
  readonly times: OperationTimes;
  readonly sharedReads: SharedReads;
  readonly writes: WriteHealth;
  /** Only for an embedded database. After the file was replaced, every read and write throws DomainError `unavailable`. */
  readonly file?: DatabaseFile;
  /** This database, or the second file of an embedded one. No transaction of this database may use the second file. */
  readonly usage: UsageDb;
  /** Only for an embedded database. */
  readonly usageFile?: SecondFile | undefined;
  /** Only for a database server. */
  readonly connections?: DbConnections;
  /** Only for a database server whose earlier primary may still answer after a promotion. */
  readonly primaryProof?: PrimaryProof | undefined;
  /** The name of the connection pooler in front of the database server; undefined without one. */
  readonly pooler?: string | undefined;
  all<Row>(statement: Statement<Row>, values?: readonly SqlValue[], options?: ReadOptions): Promise<Row[]>;
  get<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row | undefined>;
  /** The same single-row read for several lists of values, in one snapshot that is taken after the call. Results in order. */
  getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]>;
  /**
   * Runs `body` in a transaction and resolves when the commit is durable. `body` may await only the transaction, because
   * other transactions wait for it. If it throws, the transaction is rolled back. It may run again after a conflict.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** As {@link transaction}, for a body that needs nothing but its input. */
  perform<Input, Output>(procedure: Procedure<Input, Output>, input: Input): Promise<Output>;
  /**
   * Whether the next procedure runs without a wait for bodies of transactions, which can take long. Then a read that rejects it
   * early costs more than it saves.
   */
  readonly isWriterFree: boolean;
  /**
   * Resolves when everything that was visible before the call is as durable as an acknowledged commit. Needed before a
   * response that a plain read decided: a deletion that the read saw may not have reached the standby yet.
   * @param workClass `narrowing` by default; `ordinary` for requests of clients without a credential
   */
  confirm(workClass?: ConfirmationClass): Promise<void>;
  /**
   * All reads of `body` see one snapshot that is taken after the call. Writes continue meanwhile. Each call opens its own
   * connection, so it is not for frequent operations.
   */
  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
