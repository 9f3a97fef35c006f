/** Transactions on SQLite. Several share a commit; within it, the transaction of a caller is an operation. */
import type { AuditKey, Transaction } from './db.ts';
import type { SqlValue, Statement } from './sql.ts';
import type { StatementKind } from './sqlite-steps.ts';
import { unavailable } from './unavailable.ts';

/** Statements run in the order in which they are issued. After one fails, the rest of the operation fails. */
export type IssueStatement = (kind: StatementKind, text: string, values: readonly SqlValue[]) => Promise<unknown>;
export type OperationBody<T> = (issue: IssueStatement) => Promise<T>;

export class SqliteTransaction implements Transaction {
  readonly auditKey: AuditKey;
  readonly traceId: string | undefined;
  readonly #issue: IssueStatement;
  #isOver = false;

  constructor(auditKey: AuditKey, traceId: string | undefined, issue: IssueStatement) {
    this.auditKey = auditKey;
    this.traceId = traceId;
    this.#issue = issue;
  }

  all<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#statement('all', statement, values) as Promise<Row[]>;
  }

  get<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row | undefined> {
    return this.#statement('get', statement, values) as Promise<Row | undefined>;
  }

  run(statement: Statement<never>, values: readonly SqlValue[] = []): Promise<number> {
    return this.#statement('run', statement, values) as Promise<number>;
  }

  enqueue(statement: Statement<never>, values: readonly SqlValue[] = []): void {
    if (this.#isOver) throw ended();
    void this.#statement('run', statement, values);
  }

  /** Later statements are rejected: they would run in another operation. */
  end(): void {
    this.#isOver = true;
  }

  #statement(kind: StatementKind, { text }: Statement<unknown>, values: readonly SqlValue[]): Promise<unknown> {
    const result = this.#isOver ? Promise.reject(ended()) : this.#issue(kind, text.sqlite, values);
    // A failed statement fails the operation, so a rejection that no code awaits must not end the process.
    result.catch(() => undefined);
    return result;
  }
}

const ended = (): Error => unavailable(new Error('the transaction has ended'));
