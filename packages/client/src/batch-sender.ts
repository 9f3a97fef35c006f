/**
 * Sends questions in batches. A question joins only a batch that has not been passed to the transport, so its verification
 * starts after the call: a key that was deleted before the call is refused. Nothing is kept: a result goes to the callers that
 * wait for it, and no later caller receives it.
 */
import { Batch, type Entry, type Waiter } from './batch.ts';
import type { Question } from './question.ts';
import type { Timers } from './timers.ts';
import { Unanswered, type Answer, type Transport } from './transport.ts';
import { KeyreeveUnavailable } from './unavailable.ts';
import { readResults, unavailableCode, type VerificationResult } from './verification-result.ts';

const deadlineMs = 3_000;
const inFlightMax = 2;
const waitingMax = 10_000;
const okStatus = 200;

export class BatchSender {
  readonly #transport: Transport;
  readonly #timers: Timers;
  /** Unsent, oldest first. */
  readonly #unsent: Batch[] = [];
  /**
   * By their environments: the unsent batches that accept questions. The questions of a batch have equal environments, so that a
   * caller with an unknown environment makes no verification of another caller unavailable.
   */
  readonly #joinable = new Map<string, Batch>();
  #inFlight = 0;
  #isScheduled = false;

  constructor(transport: Transport, timers: Timers) {
    this.#transport = transport;
    this.#timers = timers;
  }

  /** @throws KeyreeveUnavailable without a result within 3 s, or if 10,000 callers wait already */
  ask(question: Question): Promise<VerificationResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting() >= waitingMax)
        return reject(new KeyreeveUnavailable(`${waitingMax} verifications wait already`));
      const waiter: Waiter = { resolve, reject, timer: undefined, isDone: false };
      const batch = this.#join(question, waiter);
      waiter.timer = this.#timers.setTimeout(() => {
        fail(batch, waiter, new KeyreeveUnavailable(`no result within ${deadlineMs} ms`));
      }, deadlineMs);
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
    const batch = new Batch(this.#timers, question.environments);
    batch.add(question, waiter);
    this.#unsent.push(batch);
    this.#joinable.set(question.environments, batch);
    return batch;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= inFlightMax || this.#unsent.length === 0) return;
    this.#isScheduled = true;
    this.#transport.soon(() => {
      this.#isScheduled = false;
      this.#sendNext();
    });
  }

  #sendNext(): void {
    while (this.#inFlight < inFlightMax) {
      const batch = this.#unsent.shift();
      if (!batch) return;
      if (this.#joinable.get(batch.environments) === batch) this.#joinable.delete(batch.environments);
      if (batch.waiting === 0) continue;
      this.#inFlight++;
      void this.#deliver(batch).finally(() => {
        this.#inFlight--;
        this.#schedule();
      });
    }
  }

  /** Gives each caller of a batch its result or an error. Never rejects. */
  async #deliver(batch: Batch): Promise<void> {
    const entries = batch.open();
    try {
      const [asked, answer] = await this.#send(batch, entries);
      batch.cancel = undefined;
      if (answer.status !== okStatus) throw new Error(`the service answered ${answer.status}${codeOf(answer)}`);
      const results = readResults(answer.text, asked.length);
      for (const [index, entry] of asked.entries()) settle(batch, entry, results[index]);
    } catch (error) {
      for (const entry of entries) failAll(batch, entry, error);
    }
  }

  /** Repeats free questions once, on a new connection, if no byte of a response has arrived. */
  async #send(batch: Batch, entries: readonly Entry[]): Promise<[readonly Entry[], Answer]> {
    try {
      return [entries, await this.#transport.send(bodyOf(entries), batch, false)];
    } catch (error) {
      const repeatable = error instanceof Unanswered ? batch.open().filter(({ question }) => question.isFree) : [];
      for (const entry of entries) if (!repeatable.includes(entry)) failAll(batch, entry, error);
      if (repeatable.length === 0) throw error;
      return [repeatable, await this.#transport.send(bodyOf(repeatable), batch, true)];
    }
  }
}

const bodyOf = (entries: readonly Entry[]): string =>
  `{"questions":[${entries.map(({ question }) => question.text).join(',')}]}`;

/** Names the error of a problem document, for the message. */
function codeOf({ text }: Answer): string {
  const code = /"code":"([a-z_]{1,64})"/.exec(text)?.[1];
  return code === undefined ? '' : ` (${code})`;
}

function settle(batch: Batch, entry: Entry, result: VerificationResult | undefined): void {
  if (result === undefined || (!result.valid && result.code === unavailableCode))
    return failAll(batch, entry, new Error('the service cannot verify this credential now'));
  const waiting = entry.waiters.filter((waiter) => batch.finish(waiter));
  // Each caller gets an object of its own, which it may change.
  for (const [index, waiter] of waiting.entries()) waiter.resolve(index === 0 ? result : structuredClone(result));
}

function failAll(batch: Batch, { waiters }: Entry, cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : 'the request failed';
  for (const waiter of waiters) fail(batch, waiter, new KeyreeveUnavailable(reason, { cause }));
}

function fail(batch: Batch, waiter: Waiter, error: KeyreeveUnavailable): void {
  if (batch.finish(waiter)) waiter.reject(error);
}
