/**
 * The coalescing reader: questions share database reads, and no answer is kept.
 *
 * A lookup joins the next read and is answered only by a statement sent after the lookup arrived. So a deletion that
 * was acknowledged before a verification began is always seen: it was committed before it was acknowledged, and the
 * statement's snapshot is taken later.
 */
import { limits } from '@keyreeve/contract';

interface Question<Row> {
  readonly hash: Buffer;
  readonly answer: (row: Row | undefined) => void;
  readonly fail: (error: unknown) => void;
}

export type ReadMany<Row> = (hashes: readonly Buffer[]) => Promise<(Row | undefined)[]>;

/**
 * So many questions are read at once, without waiting for the rest of the turn: their answers are on the way while the
 * next ones are read. Larger batches gained nothing and made server and clients wait for each other in turn.
 */
export const questionsEnough = 16;

export class CoalescingReader<Row> {
  readonly #readMany: ReadMany<Row>;
  readonly #readsMax: number;
  #waiting: Question<Row>[] = [];
  #readsUnderWay = 0;
  #isScheduled = false;

  /** @param readsMax reads under way at once; what arrives meanwhile waits for the next */
  constructor(readMany: ReadMany<Row>, readsMax: number) {
    this.#readMany = readMany;
    this.#readsMax = readsMax;
  }

  /** Calls one of the two, once. Callbacks, because this is the hot path: promises cost it a tenth. */
  find(hash: Buffer, answer: (row: Row | undefined) => void, fail: (error: unknown) => void): void {
    this.#waiting.push({ hash, answer, fail });
    if (this.#waiting.length >= questionsEnough && this.#readsUnderWay < this.#readsMax) void this.#readNext();
    else this.#schedule();
  }

  /** At the end of this turn of the event loop, when all that arrived with it has joined. */
  #schedule(): void {
    if (this.#isScheduled || this.#readsUnderWay >= this.#readsMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#waiting.length > 0 && this.#readsUnderWay < this.#readsMax) void this.#readNext();
    });
  }

  async #readNext(): Promise<void> {
    const questions = this.#waiting.slice(0, limits.lookupBatchMax);
    this.#waiting = this.#waiting.slice(limits.lookupBatchMax);
    this.#readsUnderWay++;
    if (this.#waiting.length > 0) this.#schedule();
    try {
      const rows = await this.#readMany(questions.map(({ hash }) => hash));
      for (const [index, question] of questions.entries()) answerOne(question, rows[index]);
    } catch (error) {
      for (const { fail } of questions) fail(error);
    } finally {
      this.#readsUnderWay--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}

/** A mistake in answering one question is that question's alone. */
function answerOne<Row>({ answer, fail }: Question<Row>, row: Row | undefined): void {
  try {
    answer(row);
  } catch (error) {
    fail(error);
  }
}
