/** Usage of API keys: how often verifications accepted and refused them. */
import { limits, type RecentUsage, type UsageQuery } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs, hourMs } from '../../foundation/clock.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { toMs } from '../../foundation/query-time.ts';
import type { KeyChanges } from '../api-keys/changes.ts';
import { orUnknown, readUses, uncountedId } from '../api-keys/use-store.ts';
import { listDaysOfKeys, listUsage, totalSince, type UsageCounts, type UsageRow } from './store.ts';

export type { UsageRow };

export interface KeyUsageOptions extends Core {
  readonly keyChanges: Pick<KeyChanges, 'read'>;
  /** For how many days usage is kept; 0: verifications are not counted. */
  readonly keptDays: number;
}

/** What shows whether clients still use a key. */
export interface RecentUse {
  /** Milliseconds; null if the key was never used. */
  readonly lastUsedAt: number | null;
  /** The client IP range, where it is known. */
  readonly lastUsedFrom: string | null;
  /** Verifications in the current hour and the 24 hours before it. Undefined if they are not counted. */
  readonly lastDay: UsageCounts | undefined;
}

export interface ListedUsage {
  readonly rows: readonly UsageRow[];
  /** Verifications of any keys in the hours or days that were counted for no key. */
  readonly uncounted: number;
}

/** Days in lists of keys. */
const recentDays = 7;

export class KeyUsage {
  readonly #options: KeyUsageOptions;

  constructor(options: KeyUsageOptions) {
    this.#options = options;
  }

  /**
   * The last use of a key and its usage in the current hour and the 24 hours before it. Verifications of the last 10 seconds
   * can be missing.
   * @returns undefined while a second file cannot be read
   * @throws DomainError `not_key_owner`, `key_not_found`
   */
  async recent(accountId: string, id: number): Promise<RecentUse | undefined> {
    const { db, clock, keyChanges, keptDays } = this.#options;
    await keyChanges.read(accountId, id);
    const currentHour = Math.floor(clock.now() / hourMs) * hourMs;
    const read = async (): Promise<RecentUse> => {
      const { lastUsedAt = null, lastUsedFrom = null } = (await readUses(db.usage, [id])).get(id) ?? {};
      const lastDay = keptDays === 0 ? undefined : await totalSince(db.usage, id, currentHour - dayMs);
      return { lastUsedAt, lastUsedFrom, lastDay };
    };
    return orUnknown(db, read, undefined);
  }

  /**
   * The usage of keys in the current day and the six days before it, in UTC, with one read.
   * @returns by id; undefined if verifications are not counted, and while a second file cannot be read
   */
  async recentOfKeys(ids: readonly number[]): Promise<ReadonlyMap<number, RecentUsage> | undefined> {
    const { db, clock, keptDays } = this.#options;
    if (keptDays === 0) return undefined;
    const first = (Math.floor(clock.now() / dayMs) - recentDays + 1) * dayMs;
    const used = new Map(ids.map((id) => [id, { accepted: 0, refused: 0, days: Array<number>(recentDays).fill(0) }]));
    const read = () => listDaysOfKeys(db.usage, ids, first);
    const rows = ids.length === 0 ? [] : await orUnknown(db, read, undefined);
    if (rows === undefined) return undefined;
    for (const { keyId, at, accepted, refused } of rows) {
      const usage = used.get(keyId);
      const day = (at - first) / dayMs;
      // A verification of the next day was counted after the clock was read.
      if (usage === undefined || day >= recentDays) continue;
      usage.accepted += accepted;
      usage.refused += refused;
      usage.days[day] = accepted;
    }
    return used;
  }

  /**
   * The hours or days in which verifications presented the key. Verifications of the last 10 seconds can be missing.
   * @throws DomainError `invalid_request`, `not_key_owner`, `key_not_found`, `usage_not_kept`
   */
  async list(accountId: string, id: number, query: UsageQuery): Promise<ListedUsage> {
    const { db, clock, keyChanges, keptDays } = this.#options;
    const period = { step: query.step ?? 'hour', ...periodOf(query, clock.now()) } as const;
    await keyChanges.read(accountId, id);
    if (keptDays === 0) throw new DomainError('usage_not_kept');
    const [rows, uncounted] = [await listUsage(db.usage, id, period), await listUsage(db.usage, uncountedId, period)];
    return { rows, uncounted: uncounted.reduce((sum, { accepted, refused }) => sum + accepted + refused, 0) };
  }
}

/** @returns milliseconds: the start of the first hour or day, and the end of the last one @throws DomainError `invalid_request` */
function periodOf(query: UsageQuery, now: number): { readonly from: number; readonly to: number } {
  const [stepMs, defaultMs] = query.step === 'day' ? [dayMs, 30 * dayMs] : [hourMs, dayMs];
  const end = query.to === undefined ? now : toMs('to', query.to);
  const start = query.from === undefined ? end - defaultMs : toMs('from', query.from);
  if (start >= end) throw invalidAt('/from', 'Expected a time before `to`, which is now by default.');
  const from = Math.floor(start / stepMs) * stepMs;
  const to = Math.ceil(end / stepMs) * stepMs;
  const max = limits.usageRowsMax;
  if ((to - from) / stepMs > max)
    throw invalidAt('/from', `Expected at most ${max} ${query.step ?? 'hour'}s before \`to\`.`);
  return { from, to };
}
