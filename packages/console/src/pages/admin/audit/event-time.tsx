/** Times of the audit log: exact, in the person's time zone or in UTC. */
import { signal } from '@preact/signals';
import { locale } from '../../../text/text.ts';

/** Whether times, and the filters by time, are in UTC. */
export const isUtc = signal(false);

export const isInstant = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/.test(value) && !Number.isNaN(Date.parse(value));

/** @param input of `datetime-local`, such as `2026-11-24T14:03` */
export const instantOf = (input: string): string => new Date(isUtc.peek() ? `${input}Z` : input).toISOString();

/** @returns the value of `datetime-local` for an instant; empty for an empty one */
export function inputOf(instant: string): string {
  if (instant === '') return '';
  const at = new Date(instant);
  const shifted = isUtc.value ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

export function EventTime({ at }: { readonly at: string }) {
  const shown = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...(isUtc.value && { timeZone: 'UTC' }),
  }).format(new Date(at));
  return (
    <time dateTime={at} title={at}>
      {isUtc.value ? `${shown} UTC` : shown}
    </time>
  );
}
