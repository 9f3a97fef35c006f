/**
 * How long usage is kept: hours for some days, then days; nothing of deleted keys. Each step is one short commit, so the work
 * can be interrupted and repeated, and several instances can do it at once.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import { deleteUsesTx } from '../api-keys/use-store.ts';
import { deletedOf, deleteUsage, deleteUsageOfKey, foldHours, pageKeysWithUsage } from './store.ts';

export interface UsageRetentionOptions extends Core {
  /** For how many days usage is kept; 0: not at all. */
  readonly keptDays: number;
  /** Default: 1,000, so that other commits do not wait long. */
  readonly rowsPerCommitMax?: number;
}

const keysPerPage = 500;
/** Bounds one call with many keys; the next call continues. */
const pagesPerCallMax = 20;

export class UsageRetention {
  readonly #options: UsageRetentionOptions;
  readonly #after = { usage: 0, 'last uses': 0 };

  constructor(options: UsageRetentionOptions) {
    this.#options = options;
  }

  /** @throws DomainError `unavailable`; committed steps stay */
  async apply(): Promise<void> {
    const { db, clock, keptDays, rowsPerCommitMax: rowsMax = 1_000 } = this.#options;
    const now = clock.now();
    const today = now - (now % dayMs);
    // If usage is not kept, also deletes rows of an instance whose clock is ahead.
    const keptFrom = keptDays === 0 ? Number.MAX_SAFE_INTEGER : today - keptDays * dayMs;
    for (const step of ['hour', 'day'] as const) while ((await deleteUsage(db, step, keptFrom, rowsMax)) > 0);
    // Whole days, so that a day has all of its hours or none.
    const foldedBefore = today - limits.usageHoursKeptDays * dayMs;
    while ((await foldHours(db, foldedBefore, rowsMax)) > 0);
    for (const kind of ['usage', 'last uses'] as const)
      for (let page = 0; page < pagesPerCallMax; page++) if (await this.#deleteOrphans(kind, rowsMax)) break;
  }

  /** Deletes what is stored of deleted keys among the next ones. @returns whether they were the last ones */
  async #deleteOrphans(kind: 'usage' | 'last uses', rowsMax: number): Promise<boolean> {
    const { db } = this.#options;
    const ids = await pageKeysWithUsage(db.usage, kind, this.#after[kind], keysPerPage);
    const deleted = await deletedOf(db, ids);
    if (kind === 'usage') for (const id of deleted) while ((await deleteUsageOfKey(db, id, rowsMax)) === rowsMax);
    else if (deleted.length > 0) await db.usage.transaction((tx) => deleteUsesTx(tx, deleted));
    const isLast = ids.length < keysPerPage;
    this.#after[kind] = isLast ? 0 : (ids.at(-1) ?? 0);
    return isLast;
  }
}
