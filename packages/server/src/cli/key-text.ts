/** The state and the use of an API key as text. */
import type { ListedKeyFull } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import type { RecentUse } from '../modules/key-usage/key-usage.ts';

type State = Pick<ListedKeyFull, 'disabledAt' | 'expiresAt'>;

/** @param now milliseconds */
export function stateOf({ disabledAt, expiresAt }: State, now: number): string {
  if (disabledAt !== null) return 'disabled';
  if (expiresAt === null) return 'enabled';
  return Date.parse(expiresAt) <= now ? 'expired' : `expires ${dateOf(expiresAt)}`;
}

/** Of a time in ISO 8601. */
export const dateOf = (instant: string): string => instant.slice(0, 10);

export function lastUseOf({ lastUsedAt, lastUsedFrom }: Pick<RecentUse, 'lastUsedAt' | 'lastUsedFrom'>): string {
  if (lastUsedAt === null) return 'never';
  return lastUsedFrom === null ? toInstant(lastUsedAt) : `${toInstant(lastUsedAt)} from ${lastUsedFrom}`;
}

/** Sentences for a user who decides whether a key can be deleted. @param use undefined if it is not known */
export function describeUse(use: RecentUse | undefined): string {
  if (use === undefined) return 'It may be in use: the usage file cannot be read.';
  const last = use.lastUsedAt === null ? 'It has never been used.' : `Its last use was ${lastUseOf(use)}.`;
  const { accepted, refused } = use.lastDay ?? { accepted: 0, refused: 0 };
  if (use.lastDay === undefined || (use.lastUsedAt === null && refused === 0)) return last;
  return `${last} In the last 24 hours it was accepted ${times(accepted)} and refused ${times(refused)}.`;
}

const times = (count: number): string => `${count} ${count === 1 ? 'time' : 'times'}`;
