/**
 * Enforces the limits of keys and accounts. A verification spends tokens that this instance has drawn from the database, and
 * otherwise joins the next draw. Verifications that wait together share a draw.
 *
 * A draw locks the rows of its limits, decides each verification by them, and commits before it answers. So all
 * instances together never spend more than a limit. A draw of unknown outcome counts as drawn, and its tokens are not spent.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { drawShare, runInShare } from '../../foundation/database/share.ts';
import { isOutcomeUnknown, unavailable } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';
import { rowNameOf } from './definition.ts';
import { Elapsed } from './elapsed.ts';
import { acceptance, rejection, type LimitOutcome } from './outcome.ts';
import type { Pool } from './pool.ts';
import { lockMetersTx, saveMetersTx, type QuotaPeriod } from './store.ts';
import { Subjects, type LimitedKey } from './subjects.ts';
import { Taking } from './taking.ts';
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

/** On PostgreSQL, the clock of the database decides instead of the system clock: all instances share it. */
export interface KeyLimiterOptions extends Core {
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

/** What a draw decides. */
interface Decisions {
  readonly takings: ReadonlyMap<Pool, Taking>;
  /** For each verification, the limit that has too few tokens. */
  readonly lacking: readonly (Pool | undefined)[];
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
    const { db } = this.#options;
    this.#drawsInProgress++;
    for (const pool of together.pools) pool.isDrawing = true;
    const hasSpace = this.#subjects.hasSpace(this.#elapsed.ms());
    let decisions: Decisions | undefined;
    let failure: unknown;
    try {
      decisions = await runInShare(drawShare, () => db.transaction((tx) => this.#decideTx(tx, together, hasSpace)));
    } catch (error) {
      failure = error;
    }
    this.#drawsInProgress--;
    for (const pool of together.pools) pool.isDrawing = false;
    if (decisions) this.#answerAll(together, decisions);
    else this.#failAll(together, failure);
    if (this.#waiting.size > 0) this.#schedule();
  }

  /** Changes nothing in memory, because the transaction may run again. */
  async #decideTx(tx: Transaction, { questions, pools }: Together, hasSpace: boolean): Promise<Decisions> {
    const { db, clock } = this.#options;
    const sentAt = this.#elapsed.ms();
    const meters = pools.map(({ meter }) => meter);
    const missing = pools.filter(({ isStored }) => !isStored).map(({ meter }) => meter);
    const locked = await lockMetersTx(tx, db.dialect, meters, missing);
    const micros = clock.isSystem === true && locked.now !== undefined ? locked.now : Math.round(clock.now() * 1_000);
    const rows = new Map(locked.rows.map((row) => [rowNameOf(row), row]));
    const takings = new Map<Pool, Taking>();
    for (const pool of pools) {
      const row = rows.get(pool.meter.row);
      if (!row) throw unavailable(new Error('a limit was deleted during a draw'));
      takings.set(pool, new Taking(pool, row, micros, sentAt));
    }
    const lacking = questions.map((question) => takeFor(question, takings));
    for (const taking of takings.values()) taking.takeForecast(hasSpace);
    const changed = Array.from(takings.values(), ({ budget }) => budget.changedRow());
    saveMetersTx(
      tx,
      changed.filter((row) => row !== undefined),
    );
    return { takings, lacking };
  }

  #answerAll({ questions }: Together, { takings, lacking }: Decisions): void {
    const now = this.#elapsed.ms();
    this.draws.committed++;
    for (const taking of takings.values()) {
      this.tokens.drawn += taking.budget.taken;
      taking.apply();
    }
    for (const [index, question] of questions.entries()) {
      const { pools, cost } = question;
      const exceeded = lacking[index];
      if (exceeded) this.#deliver(question, rejection(pools, exceeded, Math.max(1, cost), now));
      else if (pools.every((pool) => now < pool.until)) {
        for (const pool of pools) pool.countSpent(cost, now);
        this.tokens.spent += cost * pools.length;
        this.#deliver(question, acceptance(pools, now));
      } else this.#drawAgain(question);
    }
    this.#reportQuotas(takings);
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
  #reportQuotas(takings: Decisions['takings']): void {
    for (const [pool, { budget, available, hasRejected }] of takings) {
      const { kind, owner, subject, per, quantity: limit } = pool.meter;
      const isReached = kind === 'quota' && (budget.room === 0 || (hasRejected && available * reachedPart <= limit));
      if (!isReached || pool.reportedPeriod === budget.period) continue;
      const isKept = this.#options.onQuotaReached?.({ owner, subject, per, period: budget.period, limit });
      if (isKept) pool.reportedPeriod = budget.period;
    }
  }
}

function leave(question: Question): Question {
  for (const pool of question.pools) pool.waiting--;
  return question;
}

const poolsOf = ({ pools }: Question): readonly Pool[] => pools;

/** Takes the cost from all limits, or from none. @returns the limit that has too few tokens */
function takeFor({ pools, cost }: Question, takings: ReadonlyMap<Pool, Taking>): Pool | undefined {
  const needed = Math.max(1, cost);
  const all = pools.map((pool) => takings.get(pool) as Taking);
  for (const taking of all)
    if (needed > taking.pool.meter.capacity || taking.available < needed) {
      taking.hasRejected = true;
      return taking.pool;
    }
  for (const taking of all) taking.take(cost);
  return undefined;
}
