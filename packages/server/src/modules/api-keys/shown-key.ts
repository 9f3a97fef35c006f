/** One key as responses show it, with its last use and its quota. */
import type { QuotaUse } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { toQuotaUse } from '../key-limits/quota-use.ts';
import type { KeyDetailsRow } from './change-store.ts';
import { isOverlapping } from './rotation-plan.ts';
import type { StoredUse } from './use-store.ts';

export interface ShownKey extends KeyDetailsRow {
  readonly lastUsedAt: number | null;
  readonly lastUsedFrom: string | null;
  readonly quotaUse: QuotaUse | null;
}

/** A previous secret whose overlap has ended may still be stored. */
export function toShown(row: KeyDetailsRow, uses: ReadonlyMap<number, StoredUse>, clock: Clock): ShownKey {
  const use = uses.get(row.id);
  const { lastUsedAt = null, lastUsedFrom = null } = use ?? {};
  const isOfPrevious = use?.previousEndsAt === row.previousExpiresAt;
  const previousLastUsedAt = (isOfPrevious ? use?.previousUsedAt : undefined) ?? row.previousLastUsedAt;
  const previous = isOverlapping(row, clock)
    ? { previousLastUsedAt }
    : { previousExpiresAt: null, previousLastUsedAt: null };
  return { ...row, ...previous, lastUsedAt, lastUsedFrom, quotaUse: toQuotaUse(row, clock) };
}
