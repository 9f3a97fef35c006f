/** The expiry that a request sets, within the longest lifetime that the operator allows, and the end of a previous secret. */
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { invalidAt } from '../../foundation/errors.ts';

/**
 * @param lifetimeDaysMax KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit
 * @returns the latest expiry that a key may get now, in milliseconds since 1970; null: it needs none
 */
export const latestExpiry = (now: number, lifetimeDaysMax: number): number | null =>
  lifetimeDaysMax === 0 ? null : now + lifetimeDaysMax * dayMs;

/** When a previous secret ends: the expiry of its key may have become earlier than the end of the overlap. */
export const endOfPrevious = (overlapEndsAt: number, expiresAt: number | null): number =>
  Math.min(overlapEndsAt, expiresAt ?? Infinity);

/**
 * @param expiresAt milliseconds since 1970; null for never
 * @param lifetimeDaysMax as in {@link latestExpiry}
 * @throws DomainError `invalid_request` unless it is in the future and within the lifetime
 */
export function assertExpiry(expiresAt: number | null, now: number, lifetimeDaysMax: number): void {
  // Date.parse returns NaN for the leap seconds of RFC 3339. A key with that expiry would never expire.
  if (Number.isNaN(expiresAt)) throw invalidAt('/expiresAt', 'It must not be a leap second.', { code: 'wrong_time' });
  if (expiresAt !== null && expiresAt <= now)
    throw invalidAt('/expiresAt', 'It must be in the future.', { code: 'not_future' });
  const latest = latestExpiry(now, lifetimeDaysMax);
  if (latest !== null && (expiresAt === null || expiresAt > latest))
    throw invalidAt(
      '/expiresAt',
      `It must be at most ${toInstant(latest)}, because keys live for at most ${lifetimeDaysMax} days.`,
      { code: 'lifetime_exceeded', limit: lifetimeDaysMax },
    );
}
