/** How much of a quota is used, for responses. */
import { toLimits } from './definition.ts';
import { endOfPeriod, periodOf } from './period.ts';
import type { QuotaUseRow } from './store.ts';

export interface QuotaUse {
  /** Tokens that are drawn in the period. Instances may not have spent a small part of them yet. */
  readonly used: number;
  /** The end of the period, in milliseconds; null for `ever`. */
  readonly resetsAt: number | null;
}

/**
 * @param limitsText canonical JSON of the key or account; null: no limits
 * @param row of `readQuotaUses`; undefined if nothing was drawn
 * @param now milliseconds
 * @returns null if there is no quota
 */
export function quotaUse(limitsText: string | null, row: QuotaUseRow | undefined, now: number): QuotaUse | null {
  const quota = toLimits(limitsText)?.quota;
  if (!quota) return null;
  const period = periodOf(quota.per, row?.period ?? '', now);
  const end = endOfPeriod(period);
  return { used: row?.period === period ? row.used : 0, resetsAt: end === Infinity ? null : end };
}
