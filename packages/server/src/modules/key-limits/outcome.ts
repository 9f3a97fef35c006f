/** What the limits of a verification decide. */
import type { RateLimitState } from '../../foundation/errors.ts';
import type { Meter } from './definition.ts';
import type { Pool } from './pool.ts';

export interface LimitOutcome {
  /** The limit that has too few tokens; undefined if the verification is within all limits. */
  readonly exceeded: Meter | undefined;
  /** Seconds until that limit has enough tokens; infinite if it never has. 0 without one. */
  readonly retryAfterSeconds: number;
  /** When that limit has enough tokens, in milliseconds since 1970; infinite if it never has. 0 without one. */
  readonly retryAt: number;
  /** After the verification, without what other instances have spent since the last draw. */
  readonly states: readonly RateLimitState[];
}

/** @param now monotonic milliseconds */
export const acceptance = (pools: readonly Pool[], now: number): LimitOutcome => ({
  exceeded: undefined,
  retryAfterSeconds: 0,
  retryAt: 0,
  states: statesOf(pools, now),
});

/**
 * @param short a limit that has too few tokens. Of several, the outcome names the last one that has enough again, because the
 *   request cannot succeed before. A limit from which this instance has not drawn is not known.
 * @param now monotonic milliseconds
 */
export function rejection(pools: readonly Pool[], short: Pool, cost: number, now: number): LimitOutcome {
  const exceeded = pools.reduce(
    (last, pool) => (pool.isStored && pool.roomAt(cost, now) > last.roomAt(cost, now) ? pool : last),
    short,
  );
  return {
    exceeded: exceeded.meter,
    retryAfterSeconds: exceeded.secondsUntilRoom(cost, now),
    retryAt: exceeded.roomAt(cost, now),
    states: statesOf(pools, now),
  };
}

const statesOf = (pools: readonly Pool[], now: number): RateLimitState[] =>
  pools.map((pool) => ({
    policy: pool.meter.name,
    quota: pool.meter.quantity,
    windowSeconds: windowSecondsOf(pool.meter),
    remaining: pool.remaining(now),
    resetSeconds: pool.secondsUntilFull(now),
  }));

/** Of a month, 30 days. */
function windowSecondsOf({ kind, windowSeconds, per }: Meter): number {
  if (kind === 'rate') return windowSeconds;
  return { day: 86_400, month: 30 * 86_400, ever: Infinity }[per];
}
