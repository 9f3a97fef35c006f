/** Times as other systems export them. */

/**
 * RFC 3339, and the forms of PostgreSQL and MySQL: a space for the `T`, no seconds, no time, a zone in hours, or no zone, which
 * is UTC.
 */
const pattern =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,9})?))?\s?(Z|z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Numbers below are seconds since 1970 (until the year 5138), those from here on milliseconds (since 1973). */
const millisecondsMin = 100_000_000_000;
/** Numbers from here on are microseconds. */
const microsecondsMin = 100_000_000_000_000;

/**
 * @param value a text in RFC 3339 or a form of PostgreSQL and MySQL, a number of seconds, milliseconds or microseconds since
 *   1970, or an object of MongoDB's extended JSON (`$date`)
 * @returns milliseconds since 1970; undefined for another value
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value === 'string') return fromText(value.trim());
  if (typeof value !== 'object' || value === null) return undefined;
  const { $date: date, $numberLong: long } = value as { $date?: unknown; $numberLong?: unknown };
  return date === undefined ? (long === undefined ? undefined : timeOf(long)) : timeOf(date);
}

function fromNumber(number: number): number | undefined {
  if (!Number.isFinite(number) || number < 0) return undefined;
  if (number < millisecondsMin) return Math.floor(number * 1_000);
  return Math.floor(number < microsecondsMin ? number : number / 1_000);
}

function fromText(text: string): number | undefined {
  if (/^\d{9,17}(?:\.\d{1,9})?$/.test(text)) return fromNumber(Number(text));
  const [whole, date = '', minutes = '00:00', seconds = '00', zone = 'Z'] = pattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const ms = Date.parse(`${date}T${minutes}:${seconds}${zoneOf(zone)}`);
  return ms >= 0 ? ms : undefined;
}

/** `+0200` and `+02` as `+02:00`. */
function zoneOf(zone: string): string {
  if (!/^[+-]/.test(zone)) return 'Z';
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(':', '')];
  return `${hours}:${minutes === '' ? '00' : minutes}`;
}
