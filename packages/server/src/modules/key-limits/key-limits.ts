/**
 * Enforces the limits of keys and accounts. A verification spends tokens that this instance has drawn from the database, and
 * otherwise joins the next draw. Verifications that wait together share a draw.
 *
 * The database grants no more tokens than a limit has, and an instance spends no more than it was granted. So the accepted
 * cost of all instances never exceeds a limit. A draw of unknown outcome counts as drawn, and its tokens are not spent.
 */
import { limits } from '@keyreeve/contract';
import { monotonicMs, type Clock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { RateLimitState } from '../../foundation/errors.ts';
import { runAsSystem } from '../../foundation/database/share.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import { metersOf, type Meter } from './definition.ts';
import { Pool } from './pool.ts';
import { drawTokensFrom, type Draw, type QuotaPeriod, type WantedDraw } from './store.ts';

/** A key with the limits that apply to it, as the verification has read them: canonical JSON; null: none. */
export interface LimitedKey {
  readonly id: number;
  readonly accountId: string;
  readonly limits: string | null;
  readonly accountLimits: string | null;
}

interface LimitsOf {
  readonly owner: 'key' | 'account';
  readonly subject: string;
  readonly text: string;
}

export interface LimitOutcome {
  /** The limit that has no room; undefined if the verification is within all limits. */
  readonly exceeded: Meter | undefined;
  /** Seconds until the exceeded limit has room; infinite if it never has. 0 without one. */
  readonly retryAfterSeconds: number;
  /** When the exceeded limit has room, in milliseconds since 1970; infinite if it never has. 0 without one. */
  readonly retryAt: number;
  /** After the verification, without what other instances have spent since the last draw. */
  readonly states: readonly RateLimitState[];
}

/** A quota has rejected a verification, or has no tokens left. */
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
  readonly db: Db;
  /** Called at most once by this instance for each quota and period, after the verification. It must not throw. */
  readonly onQuotaReached?: (quota: QuotaReached) => void;
  /** On PostgreSQL, the clock of the database decides instead of the system clock: all instances share it. */
  readonly clock: Clock;
  readonly monotonicMs?: () => number;
}

type Answer = (outcome: LimitOutcome) => void;
type Fail = (error: unknown) => void;

/** A verification that waits for a draw. */
interface Question {
  readonly pools: readonly Pool[];
  readonly cost: number;
  readonly answer: Answer;
  readonly fail: Fail;
  draws: number;
}

/** Draws of one verification. More than one is needed only if tokens expire while it waits. */
const drawsPerQuestionMax = 3;

export class KeyLimiter {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  /** By kind and subject, in order of creation. */
  readonly #pools = new Map<string, { readonly text: string; readonly pools: readonly Pool[] }>();
  #waiting: Question[] = [];
  #drawsInProgress = 0;
  #isScheduled = false;

  constructor(options: KeyLimiterOptions) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#monotonicMs = options.monotonicMs ?? monotonicMs;
  }

  /**
   * Spends the cost from all limits of the key and its account, or from none.
   * @param cost tokens; 0 only reads whether there is room for one
   * @param fail called with DomainError `unavailable` when no tokens can be drawn
   */
  spend({ id, accountId, limits: ofKey, accountLimits }: LimitedKey, cost: number, answer: Answer, fail: Fail): void {
    const now = this.#monotonicMs();
    const pools = [
      ...(ofKey === null ? [] : this.#poolsOf({ owner: 'key', subject: String(id), text: ofKey }, now)),
      ...(accountLimits === null
        ? []
        : this.#poolsOf({ owner: 'account', subject: accountId, text: accountLimits }, now)),
    ];
    const needed = Math.max(1, cost);
    const isFree = pools.every((pool) => pool.waiting === 0);
    if (isFree && pools.every((pool) => pool.tokens(now) >= needed)) return answer(accept(pools, cost, now));
    const short = isFree ? pools.find((pool) => pool.tokens(now) < needed && pool.isShort(needed, now)) : undefined;
    if (short) return answer(reject(pools, short, now));
    if (this.#waiting.length >= limits.drawsWaitingMax) return fail(unavailable(new Error('too many draws wait')));
    for (const pool of pools) pool.waiting++;
    this.#waiting.push({ pools, cost, answer, fail, draws: 0 });
    this.#schedule();
  }

  /** A changed definition discards the tokens that were drawn under the earlier one. */
  #poolsOf({ owner, subject, text }: LimitsOf, now: number): readonly Pool[] {
    const known = this.#pools.get(subject);
    if (known?.text === text) return known.pools;
    this.#pools.delete(subject);
    if (this.#pools.size >= limits.limitedSubjectsInMemoryMax) this.#makeRoom(now);
    const pools = metersOf(owner, subject, text).map((meter) => new Pool(meter));
    this.#pools.set(subject, { text, pools });
    return pools;
  }

  /** Drops idle limits, and the oldest ones if there are too few: their tokens stay drawn and are not spent. */
  #makeRoom(now: number): void {
    for (const [subject, { pools }] of this.#pools)
      if (pools.every((pool) => pool.isIdle(now))) this.#pools.delete(subject);
    for (const subject of this.#pools.keys()) {
      if (this.#pools.size < limits.limitedSubjectsInMemoryMax * 0.9) return;
      this.#pools.delete(subject);
    }
  }

  /** Draws at the end of this turn of the event loop, when all verifications of the turn have joined. */
  #schedule(): void {
    if (this.#isScheduled || this.#drawsInProgress >= limits.drawsInProgressMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting.length > 0 && this.#drawsInProgress < limits.drawsInProgressMax) {
        const questions = this.#takeWaiting();
        if (questions.length === 0) return;
        void this.#draw(questions);
      }
    });
  }

  /** The questions of the next draw: none that needs a limit from which a draw is in progress. */
  #takeWaiting(): Question[] {
    const taken: Question[] = [];
    const held = new Set<Pool>();
    const pools = new Set<Pool>();
    const remaining: Question[] = [];
    for (const question of this.#waiting) {
      const isBlocked = question.pools.some((pool) => pool.isDrawing || held.has(pool));
      const more = question.pools.filter((pool) => !pools.has(pool)).length;
      if (!isBlocked && pools.size + more <= limits.limitsPerDrawMax) {
        for (const pool of question.pools) pools.add(pool);
        taken.push(question);
      } else {
        // Keeps the order of verifications of the same key.
        for (const pool of question.pools) held.add(pool);
        remaining.push(question);
      }
    }
    this.#waiting = remaining;
    return taken;
  }

  async #draw(questions: readonly Question[]): Promise<void> {
    this.#drawsInProgress++;
    const sentAt = this.#monotonicMs();
    const costs = new Map<Pool, number[]>();
    for (const { pools, cost } of questions)
      for (const pool of pools) costs.set(pool, [...(costs.get(pool) ?? []), Math.max(1, cost)]);
    const wanted = new Map<Pool, WantedDraw>();
    for (const [pool, ofPool] of costs) {
      const draw = pool.wanted(ofPool, sentAt);
      if (draw) wanted.set(pool, draw);
      pool.isDrawing = true;
    }
    try {
      const missing = [...wanted.keys()].filter(({ isStored }) => !isStored).map(({ meter }) => meter);
      const draws = wanted.size === 0 ? [] : await runAsSystem(() => this.#drawFrom([...wanted.values()], missing));
      const byLimit = new Map(draws.map((draw) => [`${draw.kind} ${draw.subject}`, draw]));
      const drawOf = ({ meter }: Pool): Draw | undefined => byLimit.get(`${meter.kind} ${meter.subject}`);
      for (const pool of wanted.keys()) {
        const draw = drawOf(pool);
        if (draw) pool.receive(draw, sentAt);
        else pool.isStored = false;
      }
      // The database granted all that the limit had.
      const emptied = (pool: Pool): Draw | undefined => {
        const draw = drawOf(pool);
        return draw && draw.granted < (wanted.get(pool)?.want ?? 0) ? draw : undefined;
      };
      for (const question of questions) this.#serve(question, emptied, sentAt);
    } catch (error) {
      for (const question of questions) leave(question).fail(error);
    } finally {
      for (const pool of costs.keys()) pool.isDrawing = false;
      this.#drawsInProgress--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  #drawFrom(wanted: readonly WantedDraw[], missing: readonly Meter[]): Promise<Draw[]> {
    const isShared = this.#db.dialect === 'postgres' && this.#clock.isSystem === true;
    return drawTokensFrom(this.#db, wanted, missing, isShared ? undefined : this.#clock.now());
  }

  /** @param emptied the draw from a limit that had less than was wanted */
  #serve(question: Question, emptied: (pool: Pool) => Draw | undefined, sentAt: number): void {
    const { pools } = question;
    const cost = Math.max(1, question.cost);
    const now = this.#monotonicMs();
    const lacking = pools.find((pool) => pool.tokens(now) < cost);
    if (!lacking) return leave(question).answer(accept(pools, question.cost, now));
    const draw = emptied(lacking);
    if (draw) {
      lacking.noteShortage(cost, draw, sentAt, now);
      return leave(question).answer(reject(pools, lacking, now));
    }
    // The tokens have expired, or the limit had no row.
    if (++question.draws < drawsPerQuestionMax) this.#waiting.push(question);
    else leave(question).fail(unavailable(new Error('drawn tokens expired')));
  }
}

function leave(question: Question): Question {
  for (const pool of question.pools) pool.waiting--;
  return question;
}

function accept(pools: readonly Pool[], cost: number, now: number): LimitOutcome {
  for (const pool of pools) pool.spend(cost, now);
  return { exceeded: undefined, retryAfterSeconds: 0, retryAt: 0, states: statesOf(pools, now) };
}

const reject = (pools: readonly Pool[], short: Pool, now: number): LimitOutcome => ({
  exceeded: short.meter,
  retryAfterSeconds: secondsUntil(short.shortage?.until ?? now, now),
  retryAt: short.shortage?.untilTime ?? Infinity,
  states: statesOf(pools, now),
});

const statesOf = (pools: readonly Pool[], now: number): RateLimitState[] =>
  pools.map((pool) => ({
    policy: pool.meter.name,
    quota: pool.meter.quantity,
    windowSeconds: windowSecondsOf(pool.meter),
    remaining: pool.left + pool.tokens(now),
    resetSeconds: secondsUntil(pool.fullAt, now),
  }));

/** Of a month, 30 days. */
function windowSecondsOf({ kind, windowSeconds, per }: Meter): number {
  if (kind === 'rate') return windowSeconds;
  return { day: 86_400, month: 30 * 86_400, ever: Infinity }[per];
}

const secondsUntil = (at: number, now: number): number => Math.max(1, Math.ceil((at - now) / 1_000));
