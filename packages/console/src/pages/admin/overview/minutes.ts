/** What the processes counted in the last 60 minutes, by result. */
import type { Overview } from './overview.ts';

export type Minutes = Overview['minutes'];
type Minute = Minutes[number];
export type Counts = Minute['results'];

/** Results of accepted verifications; all others are refusals. */
const acceptedResults: readonly string[] = ['api_key', 'access_token'];
export const isAccepted = (result: string): boolean => acceptedResults.includes(result);

export const sumOf = (counts: Counts, isCounted: (result: string) => boolean = () => true): number =>
  counts.reduce((sum, { result, count }) => sum + (isCounted(result) ? count : 0), 0);

export const totalOf = (minutes: Minutes, isCounted?: (result: string) => boolean): number =>
  minutes.reduce((sum, { results }) => sum + sumOf(results, isCounted), 0);

/** The counts of one result, by minute. */
export const courseOf = (minutes: Minutes, of: 'results' | 'signIns', result: string): number[] =>
  minutes.map((minute) => sumOf(minute[of], (one) => one === result));

/** @returns results without a label, of a later version */
export const unknownResults = (
  minutes: Minutes,
  of: 'results' | 'signIns',
  isKnown: (result: string) => boolean,
): string[] =>
  [...new Set(minutes.flatMap((minute) => minute[of].map(({ result }) => result)))].filter(
    (result) => !isKnown(result),
  );
