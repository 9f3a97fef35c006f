/** What stores ask of a database. `sqlite.ts` is the embedded driver, `postgres.ts` the one for many instances. */
import type { DatabaseFile } from './file-identity.ts';
import type { WriteHealth } from './write-health.ts';
import type { Dialect, ManyStatement, SqlValue, Statement } from './sql.ts';

/** Where a database reports how long its work takes; nobody listens until `observe` is replaced. */
export interface DbTimes {
  observe: (operation: 'read' | 'commit', ms: number) => void;
}

/** Reads of one moment. */
export interface Reader {
  all<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row[]>;
  get<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row | undefined>;
}

/** What the rows of the audit trail are chained with (`audit/chain.ts`): a MAC under the installation's own key. */
export interface AuditKey {
  mac(text: string): Uint8Array;
}

/** Inside a transaction: reads see its own writes, and all of it commits or none. */
export interface Transaction extends Reader {
  readonly auditKey: AuditKey;
  /** @returns the number of rows changed */
  run(statement: Statement<never>, values?: readonly SqlValue[]): Promise<number>;
}

export interface TransactionOptions {
  /** It may take minutes: a migration, a restore. Where time is limited, this one's isn't. */
  readonly isLong?: boolean;
}

export interface ReadOptions {
  /** Verifications wait for it: like {@link Db.getMany} it waits for no write. */
  readonly isShared?: boolean;
}

/** How questions are best put together for this database (`coalescing-reader.ts`). */
export interface SharedReads {
  /** Reads under way at once; what arrives meanwhile waits for the next. */
  readonly underWayMax: number;
  /** So many questions are read without waiting for others to join. */
  readonly questionsEnough: number;
}

/**
 * A database. Every read sees all that was committed before it was called.
 * Failures to reach it are DomainError `unavailable`: the caller never learns less than the truth. With
 * `isOutcomeUnknown` a commit may have happened or not.
 */
export interface Db {
  readonly dialect: Dialect;
  readonly times: DbTimes;
  readonly sharedReads: SharedReads;
  readonly writes: WriteHealth;
  /** Of an embedded database. Once it was replaced, every read and write is DomainError `unavailable`. */
  readonly file?: DatabaseFile;
  all<Row>(statement: Statement<Row>, values?: readonly SqlValue[], options?: ReadOptions): Promise<Row[]>;
  get<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row | undefined>;
  /** The same single-row read for many values in one snapshot taken after the call; results in order. */
  getMany<Row>(
    statement: ManyStatement<Row>,
    valuesOfEach: readonly (readonly SqlValue[])[],
  ): Promise<(Row | undefined)[]>;
  /**
   * Runs `work` in a transaction and resolves once it is durable. `work` may await nothing but the transaction:
   * others wait for it. When it throws, nothing of it remains. It may run again when the database asks for that.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Resolves once everything that was visible before the call is as durable as an acknowledged commit. For a negative
   * answer that a plain read gave: the deletion that it saw may not have reached the standby yet.
   * @throws DomainError `unavailable`
   */
  confirm(): Promise<void>;
  /**
   * Everything that `work` reads is from one moment after the call, however long it takes; writes go on meanwhile.
   * Each call has a connection of its own: not for what happens often.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
