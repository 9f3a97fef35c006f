/**
 * The verifications that wait for a draw. Accounts take turns, so the keys of one account delay those of another by little.
 * Verifications that need the same limit keep their order.
 */
import type { LimitOutcome } from './outcome.ts';
import type { Pool } from './pool.ts';

/** A verification that waits. */
export interface Question {
  readonly accountId: string;
  readonly pools: readonly Pool[];
  readonly cost: number;
  readonly answer: (outcome: LimitOutcome) => void;
  readonly fail: (error: unknown) => void;
  /** The draws that it has waited for. */
  draws: number;
}

export class Waiting {
  readonly #max: number;
  /** By account, in the order of their turns. No list is empty. */
  readonly #lists = new Map<string, Question[]>();
  #size = 0;

  /** @param max verifications that wait */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * When all places are taken, the newest verification of the account with the most loses its place.
   * @returns the one that has no place, which can be the given one; undefined if all have one
   */
  push(question: Question): Question | undefined {
    const list = this.#lists.get(question.accountId) ?? [];
    const rejected = this.#size < this.#max ? undefined : this.#takeNewestOfLongest(list.length + 1, question);
    if (rejected === question) return question;
    list.push(question);
    this.#lists.set(question.accountId, list);
    this.#size++;
    return rejected;
  }

  /** @returns all, which wait no longer */
  clear(): Question[] {
    const questions = [...this.#lists.values()].flat();
    this.#lists.clear();
    this.#size = 0;
    return questions;
  }

  /**
   * Takes those of the next draw, one of each account in turn. Those that need a limit from which a draw is in progress stay,
   * and those behind them that need the same limits.
   * @param limitsMax of the draw
   */
  take(limitsMax: number): Question[] {
    const selection = new Selection(limitsMax);
    let turns = [...this.#lists].map(([accountId, list]) => ({ accountId, list, next: 0, left: [] as Question[] }));
    const all = turns;
    while (turns.length > 0) {
      for (const turn of turns) {
        for (let isTaken = false; !isTaken && turn.next < turn.list.length; turn.next++) {
          const question = turn.list[turn.next] as Question;
          isTaken = selection.add(question);
          if (!isTaken) turn.left.push(question);
        }
      }
      turns = turns.filter(({ list, next }) => next < list.length);
    }
    for (const { accountId, list, left } of all) {
      if (left.length === list.length) continue;
      // To the end of the turns.
      this.#lists.delete(accountId);
      if (left.length > 0) this.#lists.set(accountId, left);
    }
    this.#size -= selection.questions.length;
    return selection.questions;
  }

  /** @param lengthMin only a longer list loses its newest @returns `otherwise` if there is none */
  #takeNewestOfLongest(lengthMin: number, otherwise: Question): Question {
    let longest: Question[] = [];
    for (const list of this.#lists.values()) if (list.length > longest.length) longest = list;
    if (longest.length <= lengthMin) return otherwise;
    this.#size--;
    return longest.pop() as Question;
  }
}

/** What is selected for a draw. */
class Selection {
  readonly questions: Question[] = [];
  /** By row: a draw changes each row for one definition. */
  readonly #pools = new Map<string, Pool>();
  readonly #held = new Set<Pool>();
  readonly #limitsMax: number;

  constructor(limitsMax: number) {
    this.#limitsMax = limitsMax;
  }

  /** @returns whether the draw includes it */
  add(question: Question): boolean {
    if (this.#mayAdd(question)) {
      for (const pool of question.pools) this.#pools.set(pool.meter.row, pool);
      this.questions.push(question);
      return true;
    }
    for (const pool of question.pools) this.#held.add(pool);
    return false;
  }

  #mayAdd({ pools }: Question): boolean {
    let added = 0;
    for (const pool of pools) {
      const selected = this.#pools.get(pool.meter.row);
      if (pool.isDrawing || this.#held.has(pool) || (selected !== undefined && selected !== pool)) return false;
      if (selected === undefined) added++;
    }
    return this.#pools.size + added <= this.#limitsMax;
  }
}
