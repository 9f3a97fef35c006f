/**
 * The writer of a worker: it sends operations to the supervisor, which runs them (`remote-client.ts`). So the workers share
 * commits and turns, and do not compete for the lock of the file.
 *
 * The body of an operation starts at once. Statements that it issues in one turn are sent as one part; the last part ends
 * the operation. The supervisor confirms the end after the commit.
 */
import { DomainError } from '../errors.ts';
import type { TransactionOptions } from './db.ts';
import type { OperationPart, RemoteError, RemoteResponse } from './remote-messages.ts';
import type { Share } from './share.ts';
import type { IssueStatement, OperationBody, OperationRunner } from './sqlite-transaction.ts';
import { unavailable } from './unavailable.ts';

interface Settle<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Operation {
  readonly id: number;
  start: OperationPart['start'];
  issued: OperationPart['statements'][number][];
  end: OperationPart['end'];
  /** Whether the end was sent: the commit may happen. */
  isCommitSent: boolean;
  /** The statements without results, in order. */
  readonly statements: Settle<unknown>[];
  /** Delivers the outcome of the body after the end was confirmed. */
  deliver: () => void;
  readonly reject: (error: unknown) => void;
}

export class RemoteCommits implements OperationRunner {
  /** Receives whether commits succeed. */
  onHealth: (isHealthy: boolean) => void = () => undefined;
  readonly #send: (parts: readonly OperationPart[]) => void;
  readonly #operations = new Map<number, Operation>();
  /** Operations with a part that has not been sent. */
  readonly #unsent = new Set<Operation>();
  #lastId = 0;
  #failure: Error | undefined;
  #onSettled: (() => void) | undefined;

  constructor(send: (parts: readonly OperationPart[]) => void) {
    this.#send = send;
  }

  run<T>(
    body: OperationBody<T>,
    { workClass, owner, isOneAtATime }: Share,
    { isLong = false }: TransactionOptions,
  ): Promise<T> {
    if (this.#failure) return Promise.reject(unavailable(this.#failure));
    return new Promise<T>((resolve, reject) => {
      const operation: Operation = {
        id: ++this.#lastId,
        // Without the trace, which is of this process.
        start: { share: { workClass, owner, isOneAtATime }, isLong },
        issued: [],
        end: undefined,
        isCommitSent: false,
        statements: [],
        deliver: () => undefined,
        reject,
      };
      this.#operations.set(operation.id, operation);
      this.#sendSoon(operation);
      const finish = (end: 'commit' | 'undo', deliver: () => void): void => {
        operation.end = end;
        operation.deliver = deliver;
        this.#sendSoon(operation);
      };
      void body((kind, text, values) => this.#issue(operation, [kind, text, values])).then(
        (value) => finish('commit', () => resolve(value)),
        (error: unknown) => finish('undo', () => reject(error)),
      );
    });
  }

  receive(responses: readonly RemoteResponse[]): void {
    for (const response of responses) {
      if ('isHealthy' in response) {
        this.onHealth(response.isHealthy);
        continue;
      }
      const operation = this.#operations.get(response.id);
      if (!operation) continue;
      if ('ended' in response) {
        this.#finish(operation, response.error && fromRemote(response.error));
        continue;
      }
      for (const result of response.results) {
        const statement = operation.statements.shift();
        if ('error' in result) statement?.reject(fromRemote(result.error));
        else statement?.resolve(result.value);
      }
    }
  }

  /** The supervisor has exited. The outcome of operations whose end was sent is unknown. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const operation of this.#operations.values())
      this.#finish(operation, unavailable(error, operation.isCommitSent));
  }

  async settled(): Promise<void> {
    if (this.#operations.size > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve));
  }

  async close(): Promise<void> {
    this.fail(new Error('the database is closed'));
  }

  readonly #issue = (operation: Operation, statement: Parameters<IssueStatement>): Promise<unknown> => {
    if (!this.#operations.has(operation.id))
      return Promise.reject(unavailable(this.#failure ?? new Error('the operation has ended')));
    operation.issued.push(statement);
    this.#sendSoon(operation);
    return new Promise((resolve, reject) => operation.statements.push({ resolve, reject }));
  };

  #sendSoon(operation: Operation): void {
    // Runs after the promise callbacks of this turn.
    if (this.#unsent.size === 0) process.nextTick(() => this.#sendParts());
    this.#unsent.add(operation);
  }

  #sendParts(): void {
    const parts: OperationPart[] = [];
    for (const operation of this.#unsent) {
      if (!this.#operations.has(operation.id)) continue;
      const { id, start, issued: statements, end } = operation;
      parts.push({ id, ...(start && { start }), statements, ...(end && { end }) });
      operation.start = undefined;
      operation.issued = [];
      operation.isCommitSent = end === 'commit';
    }
    this.#unsent.clear();
    if (parts.length > 0) this.#send(parts);
  }

  #finish(operation: Operation, error: unknown): void {
    this.#operations.delete(operation.id);
    for (const { reject } of operation.statements) reject(error ?? unavailable(new Error('the operation has ended')));
    if (error === undefined) operation.deliver();
    else operation.reject(error);
    if (this.#operations.size === 0) this.#onSettled?.();
  }
}

/** @param error of `SqliteCommits`, which throws no other errors */
export function toRemote(error: unknown): RemoteError {
  const { code, options, message } = error instanceof DomainError ? error : unavailable(error);
  const { cause = message, retryAfterSeconds, isOutcomeUnknown = false } = options;
  return { code, message: cause instanceof Error ? cause.message : String(cause), retryAfterSeconds, isOutcomeUnknown };
}

const fromRemote = ({ code, message, retryAfterSeconds, isOutcomeUnknown }: RemoteError): DomainError =>
  new DomainError(code, {
    cause: new Error(message),
    isOutcomeUnknown,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
