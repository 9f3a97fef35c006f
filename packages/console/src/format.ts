/** Times, numbers and durations in the user's language. Instants are ISO 8601 texts, as in the API. */
import { serverNow } from './clock.ts';
import { locale } from './text/text.ts';

const dateTime = () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const date = () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

export const formatDateTime = (at: string): string => dateTime().format(new Date(at));
export const formatDate = (at: string): string => date().format(new Date(at));
/** @param at milliseconds */
export const formatTime = (at: number): string => new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(at);
export const formatNumber = (value: number): string => new Intl.NumberFormat(locale).format(value);
export const formatList = (items: readonly string[]): string => new Intl.ListFormat(locale).format(items);

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

const largestUnit = (seconds: number) => units.find(([, size]) => Math.abs(seconds) >= size) ?? units[5];

/** For example “3 days ago” or “in 2 hours”. */
export function formatRelative(at: string, now = serverNow()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const [unit, size] = largestUnit(seconds);
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.trunc(seconds / size), unit);
}

/** For example “1:58”. */
export const formatCountdown = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

export const plural = <T>(count: number, forms: { readonly one: T; readonly other: T }): T =>
  new Intl.PluralRules(locale).select(count) === 'one' ? forms.one : forms.other;
