/** A batch: the questions of one request, and the callers that wait for their results. */
import type { Question } from './question.ts';
import type { Canceller } from './transport.ts';
import type { VerificationResult } from './verification-result.ts';

/** The service accepts 256 credentials and 1,050,688 bytes. */
const questionsMax = 256;
const bytesMax = 1_000_000;
/** A UTF-16 unit takes at most three bytes in UTF-8. A comma follows each question. */
const bytesPerUnitMax = 3;

/** A caller of `verify`. */
export interface Waiter {
  readonly resolve: (result: VerificationResult) => void;
  readonly reject: (error: unknown) => void;
  readonly deadlineMs: number;
  /** Ends the timer, and the use of the signal. */
  release: () => void;
  /** Whether the caller has received a result or an error. */
  isDone: boolean;
}

export interface Entry {
  readonly question: Question;
  readonly waiters: Waiter[];
}

export class Batch implements Canceller {
  /** Of all its questions. */
  readonly environments: string;
  readonly #entries: Entry[] = [];
  /** Of free questions, by their text. */
  readonly #free = new Map<string, Entry>();
  #bytes = 0;
  #waiting = 0;
  #isFull = false;
  /** Ends the request. Set while it is in flight. */
  cancel: (() => void) | undefined;

  constructor(environments: string) {
    this.environments = environments;
  }

  /** Callers without a result. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether a question did not fit, or the next one does not. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** @returns false if the batch is full */
  add(question: Question, waiter: Waiter): boolean {
    const equal = question.isFree ? this.#free.get(question.text) : undefined;
    if (equal) equal.waiters.push(waiter);
    else {
      const bytes = (question.text.length + 1) * bytesPerUnitMax;
      if (this.#entries.length > 0 && this.#bytes + bytes > bytesMax) this.#isFull = true;
      if (this.#isFull) return false;
      const entry = { question, waiters: [waiter] };
      this.#entries.push(entry);
      this.#bytes += bytes;
      this.#isFull = this.#entries.length === questionsMax;
      if (question.isFree) this.#free.set(question.text, entry);
    }
    this.#waiting++;
    return true;
  }

  /** The questions for which a caller still waits. */
  open(): Entry[] {
    return this.#entries.filter(({ waiters }) => waiters.some(({ isDone }) => !isDone));
  }

  /** The callers that wait. */
  waiters(): Waiter[] {
    return this.#entries.flatMap(({ waiters }) => waiters.filter(({ isDone }) => !isDone));
  }

  /** Marks a caller that receives its result or error now. @returns false if it has received one before */
  finish(waiter: Waiter): boolean {
    if (waiter.isDone) return false;
    waiter.isDone = true;
    waiter.release();
    if (--this.#waiting === 0) this.cancel?.();
    return true;
  }
}
