/**
 * A writer without a thread, for the supervisor of several workers and for commands. They serve no clients, so a commit may block
 * them. Without a writer thread, each exchange with a worker saves two messages between threads, and a command the start of the
 * thread, which takes longer than most commands.
 */
import { monotonicMs } from '../clock.ts';
import { busyTimeoutMs, isBusy, lockRetryMs, SqliteConnection } from './sqlite-connection.ts';
import { CommitError, handled, messageOf, SqliteSteps, type Step, type StepRunner } from './sqlite-steps.ts';
import { FileLockedError, orUnavailable, unavailable } from './unavailable.ts';

export class DirectWriter implements StepRunner {
  readonly #connection: SqliteConnection;
  readonly #steps: SqliteSteps;
  /** Steps behind a `begin` that waits for the lock of the file. */
  readonly #waiting: { readonly step: Step; readonly settle: (result: Promise<unknown>) => void }[] = [];
  #failure: Error | undefined;
  #isClosed = false;

  /** @throws DomainError `unavailable` */
  constructor(path: string) {
    this.#connection = orUnavailable(() => new SqliteConnection(path, 'write'));
    // SQLite would block this thread while it waits.
    this.#connection.exec('pragma busy_timeout = 0');
    this.#steps = new SqliteSteps(this.#connection);
  }

  async opened(): Promise<void> {
    // The constructor has opened the file.
  }

  issue(step: Step): Promise<unknown> {
    if (this.#waiting.length === 0 && step[0] !== 'begin') return handled(this.#perform(step));
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.push({ step, settle: resolve });
    if (this.#waiting.length === 1) this.#performWaiting(monotonicMs() + busyTimeoutMs);
    return handled(promise);
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  markFailed(): void {
    this.#failure ??= new Error('a commit failed; the file is opened again');
  }

  async terminate(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  close(): Promise<void> {
    return this.terminate();
  }

  #performWaiting(untilMs: number): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      let result: Promise<unknown>;
      try {
        if (this.#failure) throw this.#failure;
        result = Promise.resolve(this.#steps.perform(next.step));
      } catch (error) {
        if (isBusy(error) && next.step[0] === 'begin' && monotonicMs() < untilMs)
          return void setTimeout(() => this.#performWaiting(untilMs), lockRetryMs);
        result = handled(Promise.reject(toUnavailable(error)));
      }
      this.#waiting.shift();
      next.settle(result);
    }
  }

  async #perform(step: Step): Promise<unknown> {
    if (this.#failure) throw unavailable(this.#failure);
    try {
      return this.#steps.perform(step);
    } catch (error) {
      throw toUnavailable(error);
    }
  }
}

const toUnavailable = (error: unknown): Error => {
  const Cause = isBusy(error) ? FileLockedError : Error;
  return unavailable(new Cause(messageOf(error)), error instanceof CommitError);
};
