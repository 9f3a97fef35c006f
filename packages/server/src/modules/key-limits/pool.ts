/** The tokens of one limit that this instance has drawn and not yet spent. */
import type { Meter } from './definition.ts';
import type { Draw, WantedDraw } from './store.ts';

/** Tokens of one draw, valid until a time. */
interface Lot {
  tokens: number;
  /** Monotonic milliseconds. */
  until: number;
}

/** Why a limit has no room. */
export interface Shortage {
  /** A verification with this cost or a higher one has no room. */
  readonly cost: number;
  /** Monotonic milliseconds; infinite for a quota without periods. */
  readonly until: number;
  /** The same in milliseconds since 1970, by the clock of the draw. */
  readonly untilTime: number;
}

/**
 * Tokens of a rate are spent within this part of its window, so a window accepts no more than the burst, what is refilled in
 * it, and what was drawn this long before it, which is at most {@link forecastPart} of the burst for each instance. A draw of
 * each key every second takes more processor time than the verifications (bench/RESULTS.md).
 */
const ratePart = 10;
const rateTokensMs = { min: 1_000, max: 60_000 } as const;
/** Tokens of a quota stay valid until the end of its period. Draws take as many as were spent in this time. */
const quotaForecastMs = 10_000;
/** An instance holds at most this part of a limit for later verifications. */
const forecastPart = 20;

export class Pool {
  readonly meter: Meter;
  /** Whether the row of the limit exists. */
  isStored = false;
  /** Verifications that wait for a draw. Later ones wait behind them. */
  waiting = 0;
  /** Whether a draw is in progress. */
  isDrawing = false;
  shortage: Shortage | undefined;
  /** What the limit had left after the last draw, and when it is full again, in monotonic milliseconds. */
  left: number;
  fullAt = 0;
  /** In the order of their ends. */
  #lots: Lot[] = [];
  /** Of all lots. */
  #tokens = 0;
  /** Of the tokens of a rate, in milliseconds; of a quota, how far a forecast reaches. */
  readonly #tokensMs: number;
  /** Counts what is spent in spans of {@link #tokensMs}. */
  #span = 0;
  #spentInSpan = 0;
  #spentInSpanBefore = 0;

  constructor(meter: Meter) {
    this.meter = meter;
    this.left = meter.capacity;
    const { min, max } = rateTokensMs;
    const { kind, windowSeconds } = meter;
    this.#tokensMs =
      kind === 'quota' ? quotaForecastMs : Math.min(max, Math.max(min, (windowSeconds * 1_000) / ratePart));
  }

  /** @param now monotonic milliseconds */
  tokens(now: number): number {
    for (let [first] = this.#lots; first && (first.until <= now || first.tokens === 0); [first] = this.#lots) {
      this.#tokens -= first.tokens;
      this.#lots.shift();
    }
    return this.#tokens;
  }

  /** Spends tokens that {@link tokens} has just counted, the oldest first. */
  spend(cost: number, now: number): void {
    this.#tokens -= cost;
    let missing = cost;
    for (const lot of this.#lots) {
      const spent = Math.min(lot.tokens, missing);
      lot.tokens -= spent;
      missing -= spent;
      if (missing === 0) break;
    }
    const span = Math.floor(now / this.#tokensMs);
    if (span !== this.#span) {
      this.#spentInSpanBefore = span === this.#span + 1 ? this.#spentInSpan : 0;
      this.#spentInSpan = 0;
      this.#span = span;
    }
    this.#spentInSpan += cost;
  }

  /** @param costs of the verifications that wait @returns undefined if the pool has enough tokens for them */
  wanted(costs: readonly number[], now: number): WantedDraw | undefined {
    const tokens = this.tokens(now);
    const want = costs.reduce((sum, cost) => sum + cost, 0) - tokens;
    if (want <= 0) return undefined;
    const { quantity, capacity, windowSeconds } = this.meter;
    const windowMicros = Math.max(1, windowSeconds * 1_000_000);
    const spentRecently = Math.max(this.#spentInSpan, this.#spentInSpanBefore);
    return {
      ...this.meter,
      windowMicros,
      toleranceMicros: Math.ceil((capacity * windowMicros) / quantity),
      want,
      smallest: Math.max(1, Math.min(...costs) - tokens),
      forecast: Math.min(spentRecently, Math.floor(capacity / forecastPart)),
    };
  }

  /** @param sentAt when the draw was sent, in monotonic milliseconds: its tokens are not valid longer than they should */
  receive(draw: Draw, sentAt: number): void {
    this.isStored = true;
    const { kind, quantity, capacity, per, windowSeconds } = this.meter;
    const drawnAtMs = draw.drawnAt / 1_000;
    const periodEnd = kind === 'rate' ? drawnAtMs + this.#tokensMs : endOfPeriod(per, drawnAtMs);
    const until = sentAt + periodEnd - drawnAtMs;
    // The clock of the draws may be faster than that of this process. Then earlier tokens end no later than these.
    for (const lot of this.#lots) lot.until = Math.min(lot.until, until);
    this.#lots.push({ tokens: draw.granted, until });
    this.#tokens += draw.granted;
    const behindMicros = Math.max(0, draw.tat - draw.drawnAt);
    this.left =
      kind === 'quota'
        ? // Negative if the limit was reduced below what is drawn.
          Math.max(0, quantity - draw.used)
        : Math.max(0, Math.floor(capacity - (behindMicros * quantity) / (windowSeconds * 1_000_000)));
    this.fullAt = sentAt + (kind === 'quota' ? periodEnd - drawnAtMs : behindMicros / 1_000);
    this.shortage = undefined;
  }

  /** Records, after a draw that did not reach for a verification, from when on another draw can reach. */
  noteShortage(cost: number, draw: Draw, sentAt: number, now: number): void {
    const { kind, quantity, capacity, per, windowSeconds } = this.meter;
    const drawnAtMs = draw.drawnAt / 1_000;
    const missing = cost - this.tokens(now);
    // The bucket has room for them at `tat` − (capacity − missing) · window / quantity.
    const roomAtMs =
      kind === 'quota'
        ? endOfPeriod(per, drawnAtMs)
        : (draw.tat - ((capacity - missing) * windowSeconds * 1_000_000) / quantity) / 1_000;
    const untilTime = cost > capacity ? Infinity : roomAtMs;
    const until = sentAt + untilTime - drawnAtMs;
    if (!this.shortage || cost < this.shortage.cost) this.shortage = { cost, until, untilTime };
  }

  /** Whether a draw for this cost would grant nothing. */
  isShort(cost: number, now: number): boolean {
    return this.shortage !== undefined && cost >= this.shortage.cost && now < this.shortage.until;
  }

  /** Whether nothing is lost if the pool is dropped. */
  isIdle(now: number): boolean {
    return this.waiting === 0 && this.tokens(now) === 0 && (this.shortage?.until ?? 0) <= now;
  }
}

/** The end of the period in UTC; infinite for `ever`. All in milliseconds since 1970. */
export function endOfPeriod(per: Meter['per'], at: number): number {
  const date = new Date(at);
  if (per === 'day') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1);
  if (per === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return Infinity;
}
