/** Verifies a cut of the audit log: its MAC, and whether the removed events were old enough. */
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { auditDaysMin, isGenuine, type CutKey, type StoredCut } from './cuts.ts';

export interface CutExpectations {
  /** In milliseconds. */
  readonly now: number;
  /** For how many days events are kept now; undefined: for ever. */
  readonly keptDays?: number | undefined;
}

/** The latest time of a JavaScript Date, in milliseconds. */
const instantMax = 8.64e15;

/**
 * The days of the cut count if they are fewer than those of the setting: an operator can prolong the retention, and events
 * that were removed before stay removed.
 * @returns `detail` only if the cut is not as expected
 */
export function cutMistakes(
  key: CutKey,
  cut: StoredCut,
  { now, keptDays = Infinity }: CutExpectations,
): { readonly isGenuine: boolean; readonly detail?: string } {
  if (!isGenuine(key, cut))
    return { isGenuine: false, detail: 'the cut was changed, or copied from another chain or installation' };
  const days = Math.min(cut.days, keptDays);
  if (days >= auditDaysMin && cut.eventsBefore <= now - days * dayMs) return { isGenuine: true };
  const age = `events must be kept for ${Math.max(days, auditDaysMin)} days`;
  return { isGenuine: true, detail: `the cut removed events from before ${instantOf(cut.eventsBefore)}, but ${age}` };
}

const instantOf = (ms: number): string => (Math.abs(ms) <= instantMax ? toInstant(ms) : String(ms));
