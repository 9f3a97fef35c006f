/** Usage of API keys: how often verifications accepted and refused them. */
import type { Clock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { KeyChanges } from '../api-keys/changes.ts';
import { dayMs, hourMs, totalSince, type UsageCounts } from './store.ts';

export interface KeyUsageOptions {
  readonly db: Db;
  readonly clock: Clock;
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

export class KeyUsage {
  readonly #options: KeyUsageOptions;

  constructor(options: KeyUsageOptions) {
    this.#options = options;
  }

  /**
   * The last use of a key and its usage in the last 24 hours. Verifications of the last 10 seconds can be missing.
   * @throws DomainError `not_key_owner`, `key_not_found`
   */
  async recent(accountId: string, id: number): Promise<RecentUse> {
    const { db, clock, keyChanges, keptDays } = this.#options;
    const { lastUsedAt, lastUsedFrom } = await keyChanges.read(accountId, id);
    const currentHour = Math.floor(clock.now() / hourMs) * hourMs;
    const lastDay = keptDays === 0 ? undefined : await totalSince(db, id, currentHour - dayMs);
    return { lastUsedAt, lastUsedFrom, lastDay };
  }
}
