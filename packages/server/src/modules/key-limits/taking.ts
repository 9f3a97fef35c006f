/** What a draw takes from one limit. It is a result only after the commit. */
import { Budget } from './budget.ts';
import type { Meter } from './definition.ts';
import type { LimitRequest, LimitResult } from './draws.ts';
import type { MeterRow } from './store.ts';

export class Taking {
  readonly meter: Meter;
  readonly budget: Budget;
  /** Whether the limit had too few tokens for a verification. */
  hasRejected = false;
  readonly #forecast: number;
  /** Tokens of an earlier draw, and those for later verifications. */
  #held: number;
  /** After the request was sent. */
  readonly #heldMs: number;

  /**
   * @param now microseconds since 1970, by the clock that all instances share
   * @param waitedMs the least time since the request was sent: its tokens are not valid longer than they should
   */
  constructor({ meter, held, heldMs, forecast }: LimitRequest, row: MeterRow, now: number, waitedMs: number) {
    this.meter = meter;
    this.#forecast = forecast;
    this.budget = new Budget(meter, row, now);
    this.#held = waitedMs < heldMs ? held : 0;
    const lifeMs = meter.kind === 'rate' ? meter.tokensMs : this.budget.periodEnd - now / 1_000;
    this.#heldMs = Math.min(waitedMs + lifeMs, this.#held > 0 ? heldMs : Infinity);
  }

  get available(): number {
    return this.#held + this.budget.room;
  }

  /** @param tokens at most {@link available} */
  take(tokens: number): void {
    const held = Math.min(this.#held, tokens);
    this.#held -= held;
    this.budget.take(tokens - held);
  }

  /** Takes tokens for later verifications, unless less than a tenth of the limit is left. */
  takeForecast(): void {
    const { room } = this.budget;
    if (this.#held > 0 || room * 10 < this.meter.capacity) return;
    this.#held = Math.min(room, this.#forecast);
    this.budget.take(this.#held);
  }

  result(): LimitResult {
    const { hasRejected, budget } = this;
    const { taken: drawn, now, room, tat, period, periodEnd } = budget;
    const left = { now, room, tat, period, periodEnd };
    return { drawn, held: this.#held, heldMs: this.#heldMs, hasRejected, left };
  }
}
