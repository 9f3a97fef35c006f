/** What a draw takes from one limit. It changes the pool only after the commit. */
import { Budget } from './budget.ts';
import type { Pool } from './pool.ts';
import type { MeterRow } from './store.ts';

export class Taking {
  readonly budget: Budget;
  /** Whether the limit had too few tokens for a verification. */
  hasRejected = false;
  readonly pool: Pool;
  readonly #sentAt: number;
  /** Tokens of an earlier draw, and those for later verifications. */
  #held: number;
  readonly #until: number;

  /**
   * @param now microseconds since 1970, by the clock that all instances share
   * @param sentAt when the draw was sent, in monotonic milliseconds: its tokens are not valid longer than they should
   */
  constructor(pool: Pool, row: MeterRow, now: number, sentAt: number) {
    this.pool = pool;
    this.#sentAt = sentAt;
    this.budget = new Budget(pool.meter, row, now);
    this.#held = pool.tokens(sentAt);
    const lifeMs = pool.meter.kind === 'rate' ? pool.meter.tokensMs : this.budget.periodEnd - now / 1_000;
    this.#until = Math.min(sentAt + lifeMs, this.#held > 0 ? pool.until : Infinity);
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

  /**
   * Takes tokens for later verifications, unless less than a tenth of the limit is left.
   * @param hasSpace as for `forecast` of the pool
   */
  takeForecast(hasSpace: boolean): void {
    const { room } = this.budget;
    if (this.#held > 0 || room * 10 < this.pool.meter.capacity) return;
    const tokens = Math.min(room, this.pool.forecast(this.#sentAt, hasSpace));
    this.budget.take(tokens);
    this.#held = tokens;
  }

  /** After the commit. */
  apply(): void {
    const { budget, hasRejected } = this;
    this.pool.receive({ budget, tokens: this.#held, sentAt: this.#sentAt, until: this.#until, hasRejected });
  }
}
