/** The periods of quotas, in UTC, as `key_meters` names them. */
import { hourMs } from '../../foundation/clock.ts';
import type { QuotaPeriod } from './store.ts';

/** @param at milliseconds @returns such as `2026-11-22`, `2026-11` or `ever` */
export function periodAt(per: QuotaPeriod, at: number): string {
  if (per === 'ever') return 'ever';
  return new Date(at).toISOString().slice(0, per === 'day' ? '2026-11-22'.length : '2026-11'.length);
}

/**
 * The period in which a draw counts. A clock that goes back by less than an hour over the end of a period stays in the later
 * period: returning to the earlier one would set the quota to unused now, and again at the end of that period.
 * @param stored the period of the last draw
 */
export function periodOf(per: QuotaPeriod, stored: string, now: number): string {
  return stored === periodAt(per, now + hourMs) ? stored : periodAt(per, now);
}

/** @returns milliseconds; infinite for `ever` */
export function endOfPeriod(period: string): number {
  if (period === 'ever') return Infinity;
  const [year = 0, month = 0, day] = period.split('-').map(Number);
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1);
}
