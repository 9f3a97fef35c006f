/** Times in the options of commands. */
import { toInstant } from '../foundation/clock.ts';
import { UsageError } from './failure.ts';

/** A time of RFC 3339 (section 5.6). @returns milliseconds @throws UsageError */
export function parseTime(text: string, option: string): number {
  const ms = /T\d\d:\d\d:\d\d/i.test(text) ? millisecondsOf(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new UsageError(`${option} must be like 2027-01-31T00:00:00Z, not “${text}”`);
  return ms;
}

/** A time of RFC 3339, also without seconds, or a day, which starts at 00:00 UTC. @returns milliseconds @throws UsageError */
export function parseTimeOrDay(text: string): number {
  const ms = millisecondsOf(text);
  if (Number.isNaN(ms))
    throw new UsageError(`“${text}” is not a time; expected a time like 2026-11-21 or 2026-11-21T09:30:00Z`);
  return ms;
}

/** @returns NaN for any other text */
function millisecondsOf(text: string): number {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i.exec(text) ?? [];
  return day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
}

/** `Date.parse` reads February 30 as March 2. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && toInstant(ms).startsWith(text);
}
