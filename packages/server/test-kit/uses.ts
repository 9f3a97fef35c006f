/** Writes usage and times of last use, as a flush does. */
import type { Db } from '../src/foundation/database/db.ts';
import { writeUsesTx } from '../src/modules/api-keys/use-store.ts';
import { addHoursTx, type HourOfKey } from '../src/modules/key-usage/store.ts';

/** In one transaction. */
export const addUsage = (db: Pick<Db, 'usage'>, hours: readonly HourOfKey[]): Promise<void> =>
  db.usage.transaction((tx) => addHoursTx(tx, JSON.stringify(hours)));

export interface TestUse {
  readonly id: number;
  /** Milliseconds. */
  readonly at: number;
  /** The client IP range. */
  readonly from?: string | null;
  /** The last change of the key. Default: 0. */
  readonly changedAt?: number;
  /** Of a use of the previous secret: the end of its overlap. */
  readonly previousEndsAt?: number;
}

/** In one transaction. */
export const useKeys = (db: Pick<Db, 'usage'>, uses: readonly TestUse[]): Promise<void> =>
  db.usage.transaction((tx) =>
    writeUsesTx(
      tx,
      JSON.stringify(
        uses.map(({ id: keyId, at: usedAt, from: usedFrom = null, changedAt = 0, previousEndsAt = null }) => {
          const ofPrevious = { previousUsedAt: previousEndsAt === null ? null : usedAt, previousEndsAt };
          return { keyId, usedAt, usedFrom, changedAt, isCurrent: previousEndsAt === null, ...ofPrevious };
        }),
      ),
    ),
  );
