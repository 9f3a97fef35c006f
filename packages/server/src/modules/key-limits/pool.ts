/** What an instance holds of one limit: tokens that it has drawn and not yet spent, and the result of its last draw. */
import { fullAt, roomAt, type LeftTokens } from './budget.ts';
import type { Meter } from './definition.ts';
import type { LimitRequest, LimitResult } from './draws.ts';

/**
 * After this time an instance draws again from a limit that had too few tokens, instead of rejecting without a draw: the clock of
 * the database can be set, and its data restored.
 */
const shortageMsMax = 10_000;
/** A limit is busy if as many tokens were spent in a span: keys that are used once do not hold memory. */
const busySpentMin = 2;

/** If these tokens expire unspent, they are at most a hundredth of what the limit has refilled meanwhile. */
const leastForecast = (forecastMax: number): number => Math.floor(Math.min(64, forecastMax / 100));

export class Pool {
  readonly meter: Meter;
  /** Whether the row of the limit exists. */
  isStored = false;
  /** Verifications that wait for a draw or its result. Later ones wait behind them. */
  waiting = 0;
  /** Whether a draw is in progress. */
  isDrawing = false;
  /** The last period of a quota in which it was reported as reached. */
  reportedPeriod: string | undefined;
  #tokens = 0;
  /** Monotonic milliseconds. */
  #until = 0;
  #last: LeftTokens | undefined;
  #hasRejected = false;
  /** When the last draw was made, or earlier. */
  #lastAt = 0;
  /** What is spent is counted in spans of the validity of the tokens. */
  #span = 0;
  #spentInSpan = 0;
  #spentInSpanBefore = 0;

  constructor(meter: Meter) {
    this.meter = meter;
  }

  /** When {@link tokens} expire, in monotonic milliseconds. */
  get until(): number {
    return this.#until;
  }

  /** @param now monotonic milliseconds */
  tokens(now: number): number {
    return now < this.#until ? this.#tokens : 0;
  }

  /** @param cost at most {@link tokens} */
  spend(cost: number, now: number): void {
    this.#tokens -= cost;
    this.countSpent(cost, now);
  }

  countSpent(cost: number, now: number): void {
    const span = Math.floor(now / this.meter.tokensMs);
    if (span !== this.#span) {
      this.#spentInSpanBefore = span === this.#span + 1 ? this.#spentInSpan : 0;
      this.#spentInSpan = 0;
      this.#span = span;
    }
    this.#spentInSpan += cost;
  }

  /**
   * Tokens to draw for later verifications: as many as were spent in this span or the last one, as far as is allowed, and a
   * few from a wide limit, because a key that is seldom used would need a draw for each few verifications.
   * @param hasSpace whether memory is left for the tokens of all limits; otherwise only busy limits get some
   */
  forecast(now: number, hasSpace: boolean): number {
    const { tokensMs, forecastMax } = this.meter;
    const age = Math.floor(now / tokensMs) - this.#span;
    const spent = age > 1 ? 0 : Math.max(this.#spentInSpan, age === 0 ? this.#spentInSpanBefore : 0);
    if (!hasSpace && spent < busySpentMin) return 0;
    return Math.min(Math.max(spent, leastForecast(forecastMax)), forecastMax);
  }

  /** @param hasSpace as for {@link forecast} */
  request(now: number, hasSpace: boolean): LimitRequest {
    const { meter, isStored } = this;
    const heldMs = this.#until - now;
    return { meter, isStored, held: this.tokens(now), heldMs, forecast: this.forecast(now, hasSpace) };
  }

  /** @param sentAt when the request was sent @param waitedMs as in the result of the draw */
  receive({ held, heldMs, hasRejected, left }: LimitResult, sentAt: number, waitedMs: number): void {
    this.isStored = true;
    this.#hasRejected = hasRejected;
    this.#tokens = held;
    this.#until = sentAt + heldMs;
    this.#last = left;
    this.#lastAt = sentAt + waitedMs;
  }

  /** Whether a draw for this cost would certainly grant nothing. */
  isShort(cost: number, now: number): boolean {
    if (!this.#hasRejected || this.#last === undefined || now >= this.#lastAt + shortageMsMax) return false;
    return now < this.#toMonotonic(this.#roomAtMicros(cost, now));
  }

  /** When the limit has enough tokens for the cost, in milliseconds since 1970; infinite if never. */
  roomAt(cost: number, now: number): number {
    return Math.ceil(this.#roomAtMicros(cost, now) / 1_000);
  }

  /** Seconds until then, at least 1. */
  secondsUntilRoom(cost: number, now: number): number {
    return secondsUntil(this.#toMonotonic(this.#roomAtMicros(cost, now)), now);
  }

  /** Without what other instances have drawn since the last draw. */
  remaining(now: number): number {
    return (this.#last?.room ?? this.meter.capacity) + this.tokens(now);
  }

  secondsUntilFull(now: number): number {
    return this.#last ? secondsUntil(this.#toMonotonic(fullAt(this.meter, this.#last)), now) : 1;
  }

  #roomAtMicros(cost: number, now: number): number {
    if (cost > this.meter.capacity) return Infinity;
    return this.#last ? roomAt(this.meter, this.#last, cost - this.tokens(now)) : Infinity;
  }

  /** @param micros since 1970, by the clock of the last draw */
  #toMonotonic(micros: number): number {
    return this.#lastAt + (micros - (this.#last?.now ?? 0)) / 1_000;
  }
}

const secondsUntil = (at: number, now: number): number => Math.max(1, Math.ceil((at - now) / 1_000));
