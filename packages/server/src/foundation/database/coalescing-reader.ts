/**
 * The coalescing reader: questions share database reads, and no answer is kept.
 *
 * A question joins the next read and is answered only by a statement sent after the question arrived. So a deletion that
 * was acknowledged before a verification began is always seen: it was committed before it was acknowledged, and the
 * statement's snapshot is taken later.
 */
import { limits } from '@keyreeve/contract';
import type { SharedReads } from './db.ts';
import { unavailable } from './unavailable.ts';

interface Waiting<Question, Row> {
  readonly question: Question;
  readonly answer: (row: Row | undefined) => void;
  readonly fail: (error: unknown) => void;
}

export type ReadMany<Question, Row> = (questions: readonly Question[]) => Promise<readonly (Row | undefined)[]>;

export class CoalescingReader<Question, Row> {
  readonly #readMany: ReadMany<Question, Row>;
  readonly #underWayMax: number;
  readonly #questionsEnough: number;
  #waiting: Waiting<Question, Row>[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(readMany: ReadMany<Question, Row>, { underWayMax, questionsEnough }: SharedReads) {
    this.#readMany = readMany;
    this.#underWayMax = underWayMax;
    this.#questionsEnough = questionsEnough;
  }

  /** Calls one of the two, once. Callbacks, because this is the hot path: promises cost it a tenth. */
  find(question: Question, answer: (row: Row | undefined) => void, fail: (error: unknown) => void): void {
    if (this.#waiting.length >= limits.lookupsWaitingMax) return fail(unavailable(new Error('too many reads wait')));
    this.#waiting.push({ question, answer, fail });
    if (this.#waiting.length >= this.#questionsEnough && this.#underWay < this.#underWayMax) void this.#readNext();
    else this.#schedule();
  }

  /** {@link find} as a promise. */
  read(question: Question): Promise<Row | undefined> {
    return new Promise((resolve, reject) => this.find(question, resolve, reject));
  }

  /** At the end of this turn of the event loop, when all that arrived with it has joined. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#underWayMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#waiting.length > 0 && this.#underWay < this.#underWayMax) void this.#readNext();
    });
  }

  async #readNext(): Promise<void> {
    const batch = this.#waiting.slice(0, limits.lookupBatchMax);
    this.#waiting = this.#waiting.slice(limits.lookupBatchMax);
    this.#underWay++;
    if (this.#waiting.length > 0) this.#schedule();
    try {
      const rows = await this.#readMany(batch.map(({ question }) => question));
      for (const [index, waiting] of batch.entries()) answerOne(waiting, rows[index]);
    } catch (error) {
      // Whoever waits has waited as long as this read took, and would next: what can't be known is said at once.
      for (const { fail } of [...batch, ...this.#waiting.splice(0)]) fail(error);
    } finally {
      this.#underWay--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }
}

/** A mistake in answering one question is that question's alone. */
function answerOne<Row>({ answer, fail }: Waiting<unknown, Row>, row: Row | undefined): void {
  try {
    answer(row);
  } catch (error) {
    fail(error);
  }
}
