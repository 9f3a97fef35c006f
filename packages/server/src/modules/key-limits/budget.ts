/**
 * What a limit has left at a draw, while its row is locked. Divisions round in favour of the limit: tokens down, times up.
 * Products of 10^6 tokens and 8.64·10^10 µs exceed the exact integers of a number, so they are BigInts.
 */
import type { Meter } from './definition.ts';
import { endOfPeriod, periodOf } from './period.ts';
import type { MeterRow } from './store.ts';

/** What the pool of an instance keeps of a draw: plain data. */
export interface LeftTokens {
  /** When the draw is made, in microseconds since 1970, by the clock that all instances share. */
  readonly now: number;
  /** Tokens that are left. */
  readonly room: number;
  /** Of a rate, after the draw. */
  readonly tat: number;
  /** Of a quota. */
  readonly period: string;
  /** Of a quota, in milliseconds; infinite for one without periods. */
  readonly periodEnd: number;
}

export class Budget {
  readonly meter: Meter;
  readonly now: number;
  readonly period: string;
  readonly periodEnd: number;
  readonly #row: MeterRow;
  /** Of a rate: `tat` before the draw. Of a quota: what was drawn in the period. */
  readonly #base: number;
  #room: number;
  #taken = 0;

  constructor(meter: Meter, row: MeterRow, now: number) {
    this.meter = meter;
    this.now = now;
    this.#row = row;
    const { kind, per, quantity, capacity } = meter;
    if (kind === 'quota') {
      this.period = periodOf(per, row.period, now / 1_000);
      this.periodEnd = endOfPeriod(this.period);
      this.#base = this.period === row.period ? row.used : 0;
      // Less than nothing if the limit was reduced below what is drawn.
      this.#room = Math.max(0, quantity - this.#base);
    } else {
      this.period = row.period;
      this.periodEnd = Infinity;
      const tolerance = microsOf(meter, capacity);
      // A later `tat` comes from a clock that was ahead, or from a larger burst. It counts as an empty bucket, so that it does
      // not block the key for longer than the bucket takes to fill.
      this.#base = Math.min(Math.max(row.tat, now), now + tolerance);
      this.#room = Math.min(capacity, tokensOf(meter, now + tolerance - this.#base));
    }
  }

  get room(): number {
    return this.#room;
  }

  get tat(): number {
    if (this.meter.kind === 'quota') return this.#row.tat;
    return this.#base + (this.#taken === 0 ? 0 : microsOf(this.meter, this.#taken));
  }

  get taken(): number {
    return this.#taken;
  }

  /** @param tokens at most {@link room} */
  take(tokens: number): void {
    this.#room -= tokens;
    this.#taken += tokens;
  }

  /** @returns the row after the draw; undefined if it has not changed */
  changedRow(): MeterRow | undefined {
    const { subject, kind } = this.meter;
    const isBlockedTooLong = kind === 'rate' && this.#base < this.#row.tat;
    if (this.#taken === 0 && !isBlockedTooLong) return undefined;
    const used = kind === 'quota' ? this.#base + this.#taken : this.#row.used;
    return { subject, kind, tat: this.tat, used, period: this.period };
  }
}

/**
 * When the limit has as many tokens, if no instance draws others.
 * @returns microseconds since 1970; infinite if never
 */
export function roomAt(meter: Meter, { now, room, tat, periodEnd }: LeftTokens, tokens: number): number {
  const { kind, capacity } = meter;
  if (tokens > capacity) return Infinity;
  if (kind === 'quota') return tokens <= room ? now : periodEnd * 1_000;
  // The bucket is full at `tat`.
  return tat - (capacity === tokens ? 0 : microsOf(meter, capacity - tokens, 'down'));
}

/** @returns microseconds since 1970; infinite for a quota without periods */
export const fullAt = ({ kind }: Meter, { tat, periodEnd }: LeftTokens): number =>
  kind === 'quota' ? periodEnd * 1_000 : tat;

/** The time in which a rate refills as many tokens. */
function microsOf({ quantity, windowSeconds }: Meter, tokens: number, rounded: 'up' | 'down' = 'up'): number {
  const product = BigInt(tokens) * BigInt(windowSeconds) * 1_000_000n;
  const divisor = BigInt(quantity);
  return Number((product + (rounded === 'up' ? divisor - 1n : 0n)) / divisor);
}

/** What a rate refills in this time. */
const tokensOf = ({ quantity, windowSeconds }: Meter, micros: number): number =>
  Number((BigInt(micros) * BigInt(quantity)) / (BigInt(windowSeconds) * 1_000_000n));
