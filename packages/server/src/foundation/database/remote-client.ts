/**
 * The supervisor's side of a worker's writer (`remote-commits.ts`): runs the worker's operations, each in its turn. A
 * worker that stops responding while its operation is open delays the others for a bounded time, once.
 */
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../clock.ts';
import type { WorkerClient } from './db.ts';
import { toRemote } from './remote-commits.ts';
import type { OperationPart, RemoteResponse } from './remote-messages.ts';
import type { IssueStatement, OperationRunner } from './sqlite-transaction.ts';
import { unavailable } from './unavailable.ts';

export interface RemoteClientOptions {
  readonly send: (responses: readonly RemoteResponse[]) => void;
  readonly onEnd: () => void;
  readonly isHealthy: () => boolean;
}

export class RemoteClient implements WorkerClient {
  readonly #runner: OperationRunner;
  readonly #options: RemoteClientOptions;
  readonly #operations = new Map<number, RemoteOperation>();
  #unsent: RemoteResponse[] = [];
  #hasEnded = false;

  constructor(runner: OperationRunner, options: RemoteClientOptions) {
    this.#runner = runner;
    this.#options = options;
  }

  receive(parts: readonly OperationPart[]): void {
    // Messages can arrive after the exit.
    if (this.#hasEnded) return;
    for (const part of parts) {
      if (part.start) this.#begin(part, part.start);
      // Further parts of an operation that has failed are ignored.
      else this.#operations.get(part.id)?.add(part);
    }
  }

  start(): void {
    if (!this.#options.isHealthy()) this.respond({ isHealthy: false });
  }

  /** The worker has exited: undoes its operations, except those whose last part was received. */
  end(): void {
    this.#hasEnded = true;
    this.#options.onEnd();
    this.#abandon(new Error('the worker has ended'));
  }

  respond(response: RemoteResponse): void {
    if (this.#hasEnded) return;
    // Runs after the promise callbacks of this turn. Operations of one commit end in one turn.
    if (this.#unsent.length === 0)
      process.nextTick(() => {
        const responses = this.#unsent;
        this.#unsent = [];
        this.#options.send(responses);
      });
    this.#unsent.push(response);
  }

  #begin(part: OperationPart, { share, isLong }: NonNullable<OperationPart['start']>): void {
    const { id } = part;
    const operation = new RemoteOperation(part, {
      msMax: isLong ? undefined : limits.workerStallMsMax,
      // Each of its other operations would delay the other workers once more.
      onStall: (error) => this.#abandon(error),
      onResults: (results) => this.respond({ id, results }),
    });
    this.#operations.set(id, operation);
    const finish = (response: RemoteResponse): void => {
      this.#operations.delete(id);
      this.respond(response);
    };
    void this.#runner.run(operation.body, share, { isLong }).then(
      () => finish({ id, ended: true }),
      (error: unknown) =>
        finish({ id, ended: true, ...(error instanceof UndoneError ? {} : { error: toRemote(error) }) }),
    );
  }

  #abandon(error: Error): void {
    for (const operation of this.#operations.values()) operation.abandon(error);
  }
}

/** The body of the operation has thrown in the worker. */
class UndoneError extends Error {}

type Results = Extract<RemoteResponse, { results: unknown }>['results'];

interface RemoteOperationOptions {
  /** Time to wait for the parts of the operation, in total. Undefined waits without a bound. */
  readonly msMax: number | undefined;
  readonly onStall: (error: Error) => void;
  readonly onResults: (results: Results) => void;
}

class RemoteOperation {
  readonly #options: RemoteOperationOptions;
  readonly #parts: OperationPart[];
  #failure: Error | undefined;
  #waiting: PromiseWithResolvers<OperationPart> | undefined;
  #waitedMs = 0;

  constructor(first: OperationPart, options: RemoteOperationOptions) {
    this.#parts = [first];
    this.#options = options;
  }

  add(part: OperationPart): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(part);
    else this.#parts.push(part);
  }

  /** Undoes the operation, unless its last part was received. */
  abandon(error: Error): void {
    if (this.#parts.at(-1)?.end) return;
    this.#failure = error;
    this.#waiting?.reject(unavailable(error));
  }

  readonly body = async (issue: IssueStatement): Promise<void> => {
    for (;;) {
      const { statements, end } = await this.#next();
      const issued = statements.map(([kind, text, values]) => issue(kind, text, values));
      if (end === 'commit') return;
      if (end === 'undo') throw new UndoneError();
      const results = await Promise.allSettled(issued);
      this.#options.onResults(
        results.map((result) =>
          result.status === 'fulfilled' ? { value: result.value } : { error: toRemote(result.reason) },
        ),
      );
    }
  };

  async #next(): Promise<OperationPart> {
    if (this.#failure) throw unavailable(this.#failure);
    const part = this.#parts.shift();
    if (part) return part;
    const { msMax, onStall } = this.#options;
    const waiting = (this.#waiting = Promise.withResolvers<OperationPart>());
    const stall = () => onStall(new Error(`the other operations waited ${msMax} ms for the worker`));
    const startedMs = monotonicMs();
    const timer = msMax === undefined ? undefined : setTimeout(stall, Math.max(0, msMax - this.#waitedMs));
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waitedMs += monotonicMs() - startedMs;
      this.#waiting = undefined;
    }
  }
}
