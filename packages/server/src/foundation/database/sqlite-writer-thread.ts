/**
 * The main thread's side of the writer thread (`sqlite-writer.ts`). Steps that are issued in one turn of the event loop,
 * including the promises that are settled in it, are sent as one message.
 */
import { Worker } from 'node:worker_threads';
import type { SqlValue } from './sql.ts';
import { errorOf as errorOfProcedure } from './procedure.ts';
import { handled, type CallStep, type Step } from './sqlite-steps.ts';
import type { StepFailure, WriterData, WriterRequest, WriterResponse } from './sqlite-writer.ts';
import { FileLockedError, unavailable } from './unavailable.ts';
import { assertSameScript, ownScript } from '../own-files.ts';

interface PendingStep {
  readonly step: Step | CallStep;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const program = 'foundation/database/sqlite-writer';

/** Steps run in the order of the calls. */
export class WriterThread {
  readonly #worker: Worker;
  /** Steps of this turn, which have not been sent. */
  #issued: PendingStep[] = [];
  /** The steps of each message that has no response, in order. */
  readonly #sent: (readonly PendingStep[])[] = [];
  #failure: Error | undefined;

  /** @throws Error if another version of the program has replaced the files of this one */
  constructor(path: string, options: Omit<WriterData, 'path'> = {}) {
    const workerData: WriterData = { path, ...options };
    for (const script of [program, ...(options.procedures ?? [])]) assertSameScript(script);
    this.#worker = new Worker(ownScript(program), { workerData });
    this.#worker.on('message', (response: WriterResponse) => this.#settle(response));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the writer thread has ended')));
  }

  /** Resolves when the file is open. @throws DomainError `unavailable` */
  async opened(): Promise<void> {
    await this.issue(['open']);
  }

  /**
   * The result need not be awaited: after a failed statement the rest of its operation fails, and after a failed `begin` or
   * `savepoint` everything up to the commit.
   * @returns the result of a statement or of a procedure
   * @throws DomainError `unavailable`, with `isOutcomeUnknown` for a commit that may have reached the disk; what a procedure throws
   */
  issue(step: Step | CallStep): Promise<unknown> {
    if (this.#failure) return handled(Promise.reject(unavailable(this.#failure)));
    // Runs after the promise callbacks of this turn.
    if (this.#issued.length === 0) process.nextTick(() => this.#send());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#issued.push({ step, resolve, reject });
    return handled(promise);
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Rejects all further steps, so that the file is opened again. */
  markFailed(): void {
    this.#fail(new Error('a commit failed; the file is opened again'));
  }

  /** Resolves when the thread has stopped. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  async close(): Promise<void> {
    if (!this.hasFailed) await this.issue(['close']);
    await this.terminate();
  }

  #send(): void {
    if (this.#issued.length === 0) return;
    const steps = this.#issued;
    this.#issued = [];
    this.#sent.push(steps);
    try {
      this.#worker.postMessage(steps.map(({ step }) => compact(step)) satisfies WriterRequest);
    } catch (error) {
      // An input that cannot be copied. The rest of the transaction must not run without it.
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #settle([results, failures]: WriterResponse): void {
    for (const [index, { resolve, reject }] of (this.#sent.shift() ?? []).entries()) {
      const failure = failures?.get(index);
      if (failure) reject(errorOf(failure));
      else resolve(results[index]);
    }
  }

  /** Rejects all pending steps. A commit that was sent may have reached the disk. */
  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { step, reject } of this.#sent.splice(0).flat()) reject(unavailable(error, step[0] === 'commit'));
    for (const { reject } of this.#issued.splice(0)) reject(unavailable(error));
  }
}

const errorOf = ({ message, isOutcomeUnknown, isFileLocked = false, procedure }: StepFailure): unknown =>
  procedure
    ? errorOfProcedure(procedure)
    : unavailable(isFileLocked ? new FileLockedError(message) : new Error(message), isOutcomeUnknown);

/** A message would contain the whole memory that the bytes are a view of: 64 KiB for a small Buffer. */
function compact(step: Step | CallStep): Step | CallStep {
  if (step.length !== 3) return step;
  const [kind, text, values] = step;
  return [kind, text, values.map((value) => (isView(value) ? new Uint8Array(value) : value))];
}

const isView = (value: SqlValue): value is Uint8Array =>
  value instanceof Uint8Array && value.byteLength < value.buffer.byteLength;
