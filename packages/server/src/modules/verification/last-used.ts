/**
 * Times of last use of keys: collected in memory and written in batches, so that no verification waits for a write.
 * A key that is not used for some days can be disabled (`api-keys/unused-keys.ts`), so a key that is rarely used has priority
 * over the keys that are used all the time. A crash loses the times since the last write.
 */
import { limits } from '@keyreeve/contract';
import { dayMs } from '../../foundation/clock.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import type { KeyUse } from '../api-keys/state-store.ts';

export type WriteLastUses = (uses: readonly KeyUse[]) => Promise<void>;

const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
/** The other half is for keys without a recent time. */
const recentMax = limits.lastUsedPendingMax / 2;
/** Small, so that a write does not delay other writes. */
const rowsPerWriteMax = 500;

export class LastUsed {
  readonly #write: WriteLastUses;
  #pending = new Map<number, KeyUse>();

  constructor(write: WriteLastUses) {
    this.#write = write;
  }

  /**
   * @param lastKnown the time in the row that the verification read, in milliseconds
   * @param clientIp called only if the use is recorded
   */
  record(id: number, usedAt: number, lastKnown: number | null, clientIp: () => string | undefined): void {
    if (lastKnown !== null && usedAt - lastKnown < resolutionMs) return;
    // The first use since the last write is recorded: a frequent key does not need the client IP of each request.
    if (this.#pending.has(id)) return;
    const isRecent = lastKnown !== null && usedAt - lastKnown < dayMs;
    if (this.#pending.size >= (isRecent ? recentMax : limits.lastUsedPendingMax)) return;
    const ip = clientIp();
    this.#pending.set(id, { id, at: usedAt, from: ip === undefined ? null : coarseRange(ip) });
  }

  /** Writes the collected times. Times of a failed write are dropped. @throws the error of the database */
  async flush(): Promise<void> {
    const pending = [...this.#pending.values()];
    this.#pending = new Map();
    for (let start = 0; start < pending.length; start += rowsPerWriteMax) {
      await this.#write(pending.slice(start, start + rowsPerWriteMax));
    }
  }
}
