/**
 * Sends questions in batches. A question joins only a batch that has not been passed to the transport, so its verification
 * starts after the call: a key that was deleted before the call is refused. Nothing is kept: a result goes to the callers that
 * wait for it, and no later caller receives it.
 */
import { Batch, type Entry, type Waiter } from './batch.ts';
import { InFlight } from './in-flight.ts';
import { deadlineMs, type CallOptions, type Question } from './question.ts';
import type { Timers } from './timers.ts';
import { Unanswered, type Answer, type Transport } from './transport.ts';
import { KeyreeveUnavailable, reasonOf, secondsOf } from './unavailable.ts';
import { readResults, unavailableCode, type VerificationResult } from './verification-result.ts';

const waitingMax = 16_384;
const okStatus = 200;

export interface Sending {
  readonly transport: Transport;
  readonly timers: Timers;
  /** Returns the field `Authorization`. */
  readonly authorization: () => string | Promise<string>;
}

export class BatchSender {
  readonly #sending: Sending;
  readonly #inFlight = new InFlight();
  /** Unsent, oldest first. */
  readonly #unsent: Batch[] = [];
  /**
   * By their environments: the unsent batches that accept questions. The questions of a batch have equal environments, so that a
   * caller with an unknown environment makes no verification of another caller unavailable.
   */
  readonly #joinable = new Map<string, Batch>();
  #isScheduled = false;

  constructor(sending: Sending) {
    this.#sending = sending;
  }

  /** @throws KeyreeveUnavailable without a result within 3 s, or if 16,384 callers wait already; the reason of the signal */
  ask(question: Question, { signal, timeoutMs = deadlineMs }: CallOptions): Promise<VerificationResult> {
    const { timers } = this.#sending;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      if (this.#waiting() >= waitingMax)
        return reject(new KeyreeveUnavailable(`${waitingMax} verifications wait already`));
      const release = (): void => {
        timers.clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const waiter: Waiter = { resolve, reject, deadlineMs: timers.now() + timeoutMs, release, isDone: false };
      const batch = this.#join(question, waiter);
      const timer = timers.setTimeout(() => {
        fail(batch, waiter, new KeyreeveUnavailable(`no result within ${timeoutMs} ms`));
      }, timeoutMs);
      const leave = (): void => fail(batch, waiter, signal?.reason);
      signal?.addEventListener('abort', leave);
      this.#schedule();
    });
  }

  /** Callers whose question has not been sent. */
  #waiting(): number {
    let count = 0;
    for (const batch of this.#unsent) count += batch.waiting;
    return count;
  }

  #join(question: Question, waiter: Waiter): Batch {
    const last = this.#joinable.get(question.environments);
    if (last?.add(question, waiter)) return last;
    const batch = new Batch(question.environments);
    batch.add(question, waiter);
    this.#unsent.push(batch);
    this.#joinable.set(question.environments, batch);
    return batch;
  }

  #fullWaits(): boolean {
    return this.#unsent.some(({ isFull }) => isFull);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#unsent.length === 0 || !this.#inFlight.canStart(this.#fullWaits())) return;
    this.#isScheduled = true;
    this.#sending.transport.soon(() => {
      this.#isScheduled = false;
      this.#sendNext();
    });
  }

  #sendNext(): void {
    for (let fullWaits = this.#fullWaits(); this.#inFlight.canStart(fullWaits); fullWaits = this.#fullWaits()) {
      const batch = this.#unsent.shift();
      if (!batch) return;
      if (this.#joinable.get(batch.environments) === batch) this.#joinable.delete(batch.environments);
      if (fullWaits) this.#failLate(batch);
      if (batch.waiting > 0) void this.#fly(batch);
    }
  }

  /** In an overload, a question whose result would come after its deadline would only take the place of others. */
  #failLate(batch: Batch): void {
    const { lastMs } = this.#inFlight;
    const endMs = this.#sending.timers.now() + lastMs;
    for (const waiter of batch.waiters())
      if (waiter.deadlineMs < endMs)
        fail(batch, waiter, new KeyreeveUnavailable(`no result in time: a batch takes ${Math.round(lastMs)} ms`));
  }

  async #fly(batch: Batch): Promise<void> {
    const { timers } = this.#sending;
    const flight = this.#inFlight.start(timers.now(), batch.isFull);
    const isAnswered = await this.#deliver(batch);
    this.#inFlight.end(flight, isAnswered ? timers.now() : undefined, this.#fullWaits());
    this.#schedule();
  }

  /** Gives each caller of a batch its result or an error. Never rejects. @returns whether the service has answered with results */
  async #deliver(batch: Batch): Promise<boolean> {
    let entries = batch.open();
    try {
      let authorization = this.#sending.authorization();
      if (typeof authorization !== 'string') {
        authorization = await whileWaiting(batch, authorization);
        entries = batch.open();
      }
      const [asked, answer] = await this.#send(batch, entries, authorization);
      batch.cancel = undefined;
      if (answer.status !== okStatus) throw new OtherStatus(answer);
      const results = readResults(answer.text, asked.length);
      for (const [index, entry] of asked.entries()) settle(batch, entry, results[index]);
      return true;
    } catch (error) {
      for (const entry of entries) failAll(batch, entry, error);
      return false;
    }
  }

  /** Repeats free questions once, on a new connection, if no byte of a response has arrived. */
  async #send(batch: Batch, entries: readonly Entry[], authorization: string): Promise<[readonly Entry[], Answer]> {
    const { transport } = this.#sending;
    try {
      return [entries, await transport.send({ body: bodyOf(entries), authorization, isRepeated: false }, batch)];
    } catch (error) {
      const repeatable = error instanceof Unanswered ? batch.open().filter(({ question }) => question.isFree) : [];
      for (const entry of entries) if (!repeatable.includes(entry)) failAll(batch, entry, error);
      if (repeatable.length === 0) throw error;
      const repeated = { body: bodyOf(repeatable), authorization, isRepeated: true };
      return [repeatable, await transport.send(repeated, batch)];
    }
  }
}

/** The service has answered without results. */
class OtherStatus extends Error {
  readonly status: number;
  /** Of a problem document. */
  readonly code: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, text, retryAfter }: Answer) {
    const code = /"code":"([a-z_]{1,64})"/.exec(text)?.[1];
    super(`the service answered ${status}${code === undefined ? '' : ` (${code})`}`);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = secondsOf(retryAfter);
  }
}

/** A function for the service key that never returns must not occupy a place in flight. */
function whileWaiting(batch: Batch, given: Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    batch.cancel = () => reject(new Error('no caller waits for the result'));
    given.then(resolve, reject);
  });
}

const bodyOf = (entries: readonly Entry[]): string =>
  `{"questions":[${entries.map(({ question }) => question.text).join(',')}]}`;

function settle(batch: Batch, entry: Entry, result: VerificationResult | undefined): void {
  if (result === undefined || (!result.valid && result.code === unavailableCode))
    return failAll(batch, entry, new Error('the service cannot verify this credential now'));
  const waiting = entry.waiters.filter((waiter) => batch.finish(waiter));
  // Each caller gets an object of its own, which it may change.
  for (const [index, waiter] of waiting.entries()) waiter.resolve(index === 0 ? result : structuredClone(result));
}

function failAll(batch: Batch, { waiters }: Entry, cause: unknown): void {
  const { status, code, retryAfterSeconds } = cause instanceof OtherStatus ? cause : {};
  const details = { cause, ...(status && { status }), code, retryAfterSeconds };
  const reason = reasonOf(cause);
  for (const waiter of waiters) if (!waiter.isDone) fail(batch, waiter, new KeyreeveUnavailable(reason, details));
}

function fail(batch: Batch, waiter: Waiter, error: unknown): void {
  if (batch.finish(waiter)) waiter.reject(error);
}
