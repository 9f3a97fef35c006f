/** Deletes the rows of limits of deleted keys and accounts, in short steps. Several instances can do it at once. */
import type { Db } from '../../foundation/database/db.ts';
import { deleteOrphanedMeters, metersPerStep, pageMeters } from './store.ts';

/** Bounds one call with many limits; the next call continues. */
const stepsPerCallMax = 20;
const first = { subject: '', kind: '' } as const;

export class OrphanedMeters {
  readonly #db: Db;
  #after: Parameters<typeof pageMeters>[1] = first;

  constructor(db: Db) {
    this.#db = db;
  }

  /** @throws DomainError `unavailable`; committed steps stay */
  async delete(): Promise<void> {
    for (let step = 0; step < stepsPerCallMax; step++) {
      const rows = await pageMeters(this.#db, this.#after);
      const orphans = rows.filter(({ isOrphan }) => isOrphan === 1);
      if (orphans.length > 0) await deleteOrphanedMeters(this.#db, orphans);
      const last = rows.at(-1);
      this.#after = last && rows.length === metersPerStep ? last : first;
      if (this.#after === first) return;
    }
  }
}
