/**
 * Enforces the limits of keys and accounts. A verification spends tokens that this instance has drawn from the database, and
 * otherwise joins the next draw. Verifications that wait together share a draw.
 *
 * Tokens are spent after the commit of their draw, so all instances together never spend more than a limit. A draw of unknown
 * outcome counts as drawn, and its tokens are not spent.
 */
import { limits } from '@keyreeve/contract';
import { monotonicMs, type Clock } from '../../foundation/clock.ts';
import { isOutcomeUnknown, unavailable } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { DrawRequest, DrawResult, Draws, LimitResult } from './draws.ts';
import { Elapsed } from './elapsed.ts';
import { acceptance, rejection, type LimitOutcome } from './outcome.ts';
import type { Pool } from './pool.ts';
import type { QuotaPeriod } from './store.ts';
import { Subjects, type LimitedKey } from './subjects.ts';
import { Waiting, type Question } from './waiting.ts';

export type { LimitedKey, LimitOutcome };

/** A quota has no tokens left, or has rejected a verification with at most 5% of it left. */
export interface QuotaReached {
  readonly owner: 'key' | 'account';
  /** The id of the key or account. */
  readonly subject: string;
  readonly per: QuotaPeriod;
  /** In UTC, such as `2026-11-22` or `2026-11`; `ever` for a quota without periods. */
  readonly period: string;
  readonly limit: number;
}

export interface KeyLimiterOptions {
  readonly draws: Draws;
  readonly clock: Clock;
  /**
   * Called after the verification, rarely more than once by this instance for a quota and period. It must not throw.
   * @returns whether it keeps the quota; otherwise a later draw calls it again
   */
  readonly onQuotaReached?: (quota: QuotaReached) => boolean;
  readonly monotonicMs?: () => number;
}

/** Since the start, for metrics. */
export interface DrawCounts {
  committed: number;
  failed: number;
  /** The commit has an unknown outcome. Their tokens are not spent. */
  unknown: number;
}

/** The verifications of a draw, and the limits that they need. */
interface Together {
  readonly questions: readonly Question[];
  readonly pools: readonly Pool[];
}

export interface Spending {
  readonly key: LimitedKey;
  /** Tokens; 0 only reads whether the limits have one. */
  readonly cost: number;
  /** The time of the clock, if the caller has just read it. */
  readonly now?: number;
}

/** A second draw is needed if tokens expire before the first one has committed. */
const drawsPerQuestionMax = 2;
/** A rejection reports a quota only if at most this part of it is left. */
const reachedPart = 20;

export class KeyLimiter {
  readonly draws: DrawCounts = { committed: 0, failed: 0, unknown: 0 };
  readonly tokens = { drawn: 0, spent: 0 };
  /** Verifications that needed a draw: they waited until it began, or were rejected because too many waited. */
  readonly waits = { waited: 0, rejected: 0 };
  readonly #options: KeyLimiterOptions;
  readonly #elapsed: Elapsed;
  readonly #subjects = new Subjects();
  readonly #waiting = new Waiting(limits.drawsWaitingMax);
  #drawsInProgress = 0;
  #isScheduled = false;

  constructor(options: KeyLimiterOptions) {
    this.#options = options;
    this.#elapsed = new Elapsed(options.clock, options.monotonicMs ?? monotonicMs);
  }

  /** Verifications that wait for a draw. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Spends the cost from all limits of the key and its account, or from none.
   * @param fail called with DomainError `unavailable` when no tokens can be drawn, or stored limits are invalid
   */
  spend(
    { key, cost, now: wall }: Spending,
    answer: (outcome: LimitOutcome) => void,
    fail: (error: unknown) => void,
  ): void {
    const now = this.#elapsed.ms(wall);
    const pools = this.#poolsOf(key, now, fail);
    if (!pools) return;
    let isFirst = true;
    for (const pool of pools) if (pool.waiting > 0) isFirst = false;
    const outcome = this.#decide(pools, cost, now, isFirst);
    if (outcome) answer(outcome);
    else this.#wait({ accountId: key.accountId, pools, cost, answer, fail, draws: 0 });
  }

  #poolsOf(key: LimitedKey, now: number, fail: (error: unknown) => void): readonly Pool[] | undefined {
    try {
      return this.#subjects.poolsOf(key, now);
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  /**
   * Decides a verification without a draw, if that is possible.
   * @param isFirst whether no earlier verification waits for the same limits
   */
  #decide(pools: readonly Pool[], cost: number, now: number, isFirst: boolean): LimitOutcome | undefined {
    const needed = Math.max(1, cost);
    let mayAccept = isFirst;
    for (const pool of pools) {
      if (pool.tokens(now) >= needed) continue;
      if (pool.isShort(needed, now)) return rejection(pools, pool, needed, now);
      mayAccept = false;
    }
    if (!mayAccept) return undefined;
    for (const pool of pools) pool.spend(cost, now);
    this.tokens.spent += cost * pools.length;
    return acceptance(pools, now);
  }

  #wait(question: Question): void {
    for (const pool of question.pools) pool.waiting++;
    const rejected = this.#waiting.push(question);
    if (rejected) {
      this.waits.rejected++;
      leave(rejected).fail(unavailable(new Error('too many draws wait')));
    }
    this.#schedule();
  }

  /** Draws at the end of this turn of the event loop, when all verifications of the turn have joined. */
  #schedule(): void {
    if (this.#isScheduled || this.#drawsInProgress >= limits.drawsInProgressMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting.size > 0 && this.#drawsInProgress < limits.drawsInProgressMax) {
        const taken = this.#waiting.take(limits.limitsPerDrawMax);
        if (taken.length === 0) return;
        for (const { draws } of taken) if (draws === 0) this.waits.waited++;
        const questions = this.#answerFromTokens(taken);
        if (questions.length > 0) void this.#draw({ questions, pools: [...new Set(questions.flatMap(poolsOf))] });
      }
    });
  }

  /** An earlier draw may have taken enough tokens for those that have waited meanwhile. @returns those that need a draw */
  #answerFromTokens(questions: readonly Question[]): Question[] {
    const now = this.#elapsed.ms();
    const needed = new Set<Pool>();
    return questions.filter((question) => {
      const { pools, cost } = question;
      const isFirst = !pools.some((pool) => needed.has(pool));
      const outcome = this.#decide(pools, cost, now, isFirst);
      if (outcome) this.#deliver(question, outcome);
      else for (const pool of pools) needed.add(pool);
      return outcome === undefined;
    });
  }

  async #draw(together: Together): Promise<void> {
    this.#drawsInProgress++;
    for (const pool of together.pools) pool.isDrawing = true;
    const sentAt = this.#elapsed.ms();
    const request = requestOf(together, sentAt, this.#subjects.hasSpace(sentAt));
    let result: DrawResult | undefined;
    let failure: unknown;
    try {
      result = await this.#options.draws.draw(request);
    } catch (error) {
      failure = error;
    }
    this.#drawsInProgress--;
    for (const pool of together.pools) pool.isDrawing = false;
    if (result) this.#answerAll(together, result, sentAt);
    else this.#failAll(together, failure);
    if (this.#waiting.size > 0) this.#schedule();
  }

  #answerAll(together: Together, { waitedMs, limits: results, lacking }: DrawResult, sentAt: number): void {
    const now = this.#elapsed.ms();
    this.draws.committed++;
    for (const [index, pool] of together.pools.entries()) {
      const result = results[index] as LimitResult;
      this.tokens.drawn += result.drawn;
      pool.receive(result, sentAt, waitedMs);
    }
    for (const [index, question] of together.questions.entries()) {
      const { pools, cost } = question;
      const exceeded = together.pools[lacking[index] ?? -1];
      if (exceeded) this.#deliver(question, rejection(pools, exceeded, Math.max(1, cost), now));
      else if (pools.every((pool) => now < pool.until)) {
        for (const pool of pools) pool.countSpent(cost, now);
        this.tokens.spent += cost * pools.length;
        this.#deliver(question, acceptance(pools, now));
      } else this.#drawAgain(question);
    }
    this.#reportQuotas(together.pools, results);
  }

  #deliver(question: Question, outcome: LimitOutcome): void {
    leave(question);
    try {
      question.answer(outcome);
    } catch (error) {
      question.fail(error);
    }
  }

  /** The tokens of the draw are lost: they expired before it had committed. */
  #drawAgain(question: Question): void {
    leave(question);
    if (++question.draws < drawsPerQuestionMax) this.#wait(question);
    else question.fail(unavailable(new Error('drawn tokens expired')));
  }

  /**
   * If the database is unavailable, the other waiting verifications fail too, as those of the shared read: the next draw would
   * probably fail as slowly. Another error concerns only this draw.
   */
  #failAll({ questions }: Together, error: unknown): void {
    this.draws[isOutcomeUnknown(error) ? 'unknown' : 'failed']++;
    const isUnavailable = error instanceof DomainError && error.code === 'unavailable';
    for (const question of [...questions, ...(isUnavailable ? this.#waiting.clear() : [])]) leave(question).fail(error);
  }

  /** A rejection alone does not show that a quota is used up: the cost can be large. */
  #reportQuotas(pools: readonly Pool[], results: DrawResult['limits']): void {
    for (const [index, pool] of pools.entries()) {
      const { held, hasRejected, left } = results[index] as LimitResult;
      const { kind, owner, subject, per, quantity: limit } = pool.meter;
      const isReached =
        kind === 'quota' && (left.room === 0 || (hasRejected && (held + left.room) * reachedPart <= limit));
      if (!isReached || pool.reportedPeriod === left.period) continue;
      const isKept = this.#options.onQuotaReached?.({ owner, subject, per, period: left.period, limit });
      if (isKept) pool.reportedPeriod = left.period;
    }
  }
}

function leave(question: Question): Question {
  for (const pool of question.pools) pool.waiting--;
  return question;
}

const poolsOf = ({ pools }: Question): readonly Pool[] => pools;

/** @param now when it is sent */
function requestOf({ questions, pools }: Together, now: number, hasSpace: boolean): DrawRequest {
  const indexes = new Map(pools.map((pool, index) => [pool, index]));
  return {
    limits: pools.map((pool) => pool.request(now, hasSpace)),
    questions: questions.map((question) => ({
      limits: question.pools.map((pool) => indexes.get(pool) as number),
      cost: question.cost,
    })),
  };
}
