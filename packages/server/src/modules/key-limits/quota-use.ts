/** How much of a quota is used, for responses. */
import type { QuotaUse } from '@keyreeve/contract';
import { expiryTime, toInstant, type Clock } from '../../foundation/clock.ts';
import { databaseTime, type Dialect } from '../../foundation/database/sql.ts';
import { toLimits } from './definition.ts';
import { endOfPeriod, periodOf } from './period.ts';

/** The limits of a key or account, and {@link quotaUseColumns}. */
export interface QuotaUseRow {
  /** Canonical JSON; null: no limits. */
  readonly limits: string | null;
  /** Tokens that are drawn in the period; null before the first draw. Instances may not have spent a small part of them. */
  readonly quotaUsed: number | null;
  readonly quotaPeriod: string | null;
  /** The time of the database at the read, in milliseconds; null on SQLite and before the first draw. */
  readonly quotaReadAt: number | null;
}

/** Requires {@link joinQuotaUse}. */
export const quotaUseColumns = (dialect: Dialect): string =>
  `m.used as "quotaUsed", m.period as "quotaPeriod", case when m.used is not null then ${databaseTime[dialect]} end as "quotaReadAt"`;

/**
 * Also for a key or account without a quota, because a change may set one.
 * @param table the alias of its table
 */
export const joinQuotaUse = (table: string): string =>
  `left join key_meters m on m.subject = cast(${table}.id as text) and m.kind = 'quota'`;

/** @returns null if there is no quota */
export function toQuotaUse(
  { limits, quotaUsed, quotaPeriod, quotaReadAt }: QuotaUseRow,
  clock: Clock,
): QuotaUse | null {
  const quota = toLimits(limits)?.quota;
  if (!quota) return null;
  const period = periodOf(quota.per, quotaPeriod ?? '', expiryTime(clock, quotaReadAt));
  const end = endOfPeriod(period);
  return {
    used: quotaPeriod === period ? (quotaUsed ?? 0) : 0,
    resetsAt: end === Infinity ? null : toInstant(end),
  };
}
