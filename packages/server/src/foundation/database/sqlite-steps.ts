/**
 * The steps of transactions on the writing connection of an SQLite file.
 *
 * A transaction is `begin`, operations and `commit`. An operation is `savepoint`, statements and `release` or `undo`. A
 * failed statement fails the rest of its operation, which `release` then undoes; the other operations continue. If SQLite
 * has ended the transaction, everything up to the commit fails: a statement outside of a transaction would commit alone.
 */
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqlValue } from './sql.ts';

export type StatementKind = 'all' | 'get' | 'run';

/** A procedure, its input, and what its transaction has besides. */
export interface CalledProcedure {
  readonly script: string;
  readonly name: string;
  readonly input: unknown;
  readonly auditKey: { readonly key: Uint8Array; readonly rootKeyVersion: number };
  readonly traceId: string | undefined;
}

export type Step =
  | readonly [kind: StatementKind, text: string, values: readonly SqlValue[]]
  | readonly [kind: 'open' | 'begin' | 'savepoint' | 'release' | 'undo' | 'commit' | 'close'];

/** In the place of the statements of an operation. */
export type CallStep = readonly [kind: 'call', called: CalledProcedure];

/** SQLite has attempted a commit, which may have reached the disk. */
export class CommitError extends Error {}

/** It does so after some failures (https://sqlite.org/lang_transaction.html, section 3). */
const endedBySqlite = 'SQLite has ended the transaction';
const noTransaction = 'no transaction has begun';

export class SqliteSteps {
  readonly #connection: SqliteConnection;
  /** Why the transaction cannot continue. */
  #transactionFailure: string | undefined = noTransaction;
  /** Whether an operation of the transaction has ended without being undone. */
  #hasReleased = false;
  /** Why the operation cannot continue. */
  #operationFailure: string | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** @throws CommitError, or Error with the message of SQLite */
  perform(step: Step): unknown {
    switch (step[0]) {
      case 'all':
      case 'get':
      case 'run':
        return this.#statement(step[0], step[1], step[2]);
      case 'open':
        // The connection was opened before.
        return undefined;
      case 'begin':
        this.#transactionFailure = undefined;
        this.#hasReleased = false;
        return this.#control(() => this.#begin());
      case 'savepoint':
        this.#operationFailure = undefined;
        return this.#control(() => this.#run('savepoint operation'));
      case 'undo':
        return this.#control(() => this.#undoOperation());
      case 'release':
        if (this.#operationFailure === undefined) {
          this.#control(() => this.#run('release operation'));
          this.#hasReleased = true;
          return undefined;
        }
        this.#control(() => this.#undoOperation());
        throw new Error(this.#operationFailure);
      case 'commit':
        return this.#commit();
      case 'close':
        return this.#connection.close();
    }
  }

  /** Fails the rest of the operation: `release` undoes it. */
  failOperation(error: unknown): void {
    this.#operationFailure ??= messageOf(error);
  }

  #statement(kind: StatementKind, text: string, values: readonly SqlValue[]): unknown {
    if (!this.#connection.isTransaction) this.#transactionFailure ??= endedBySqlite;
    const failure = this.#transactionFailure ?? this.#operationFailure;
    if (failure !== undefined) throw new Error(failure);
    try {
      const statement = this.#connection.prepare(text);
      return kind === 'run' ? Number(statement.run(...values).changes) : statement[kind](...values);
    } catch (error) {
      this.#operationFailure = messageOf(error);
      throw error;
    }
  }

  /** Performs a step without which the transaction cannot continue. */
  #control(step: () => void): void {
    if (this.#transactionFailure !== undefined) throw new Error(this.#transactionFailure);
    try {
      step();
      if (!this.#connection.isTransaction) throw new Error(endedBySqlite);
    } catch (error) {
      this.#transactionFailure = messageOf(error);
      throw error;
    }
  }

  #begin(): void {
    // A failure has left the previous transaction open.
    if (this.#connection.isTransaction) this.#run('rollback');
    this.#run('begin immediate');
  }

  #undoOperation(): void {
    this.#run('rollback to operation');
    this.#run('release operation');
  }

  #commit(): void {
    if (!this.#connection.isTransaction) this.#transactionFailure ??= endedBySqlite;
    if (this.#transactionFailure !== undefined) throw new Error(this.#transactionFailure);
    try {
      // A commit writes the pages that operations have changed, also if all were undone.
      this.#run(this.#hasReleased ? 'commit' : 'rollback');
    } catch (error) {
      throw new CommitError(messageOf(error));
    }
    this.#transactionFailure = noTransaction;
  }

  #run(text: string): void {
    this.#connection.prepare(text).run();
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Callers need not await every step: the commit or the end of the operation reports a failure as well. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
