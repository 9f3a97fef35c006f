/**
 * Times of last use of keys: collected in memory and written in batches, so that no verification waits for a write.
 * A key that is not used for some days can be disabled (`api-keys/unused-keys.ts`), so a key that is rarely used has priority
 * over the keys that are used all the time. A crash loses the times since the last write.
 */
import { limits } from '@keyreeve/contract';
import { dayMs } from '../../foundation/clock.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import type { KeyState, KeyUse } from '../api-keys/state-store.ts';

export type WriteLastUses = (uses: readonly KeyUse[]) => Promise<void>;

const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
/** The other half is for keys without a recent time. */
const recentMax = limits.lastUsedPendingMax / 2;
/** Small, so that a write does not delay other writes. */
const rowsPerWriteMax = 500;

export class LastUsed {
  readonly #write: WriteLastUses;
  #pending = new Map<number, KeyUse>();
  /** Uses that the flush in progress has taken and not written yet. */
  #inFlight = 0;
  /** A flush that began earlier may have taken its times before the last verifications, so a caller waits for the next one. */
  readonly #flush = new CoalescedCall(() => this.#writePending());

  constructor(write: WriteLastUses) {
    this.#write = write;
  }

  /**
   * @param lastKnown the time in the row that the verification read, in milliseconds
   * @param clientIp called only if the use is recorded
   */
  record(
    { id, overlapEndsAt }: Pick<KeyState, 'id' | 'overlapEndsAt'>,
    usedAt: number,
    lastKnown: number | null,
    clientIp: () => string | undefined,
  ): void {
    if (lastKnown !== null && usedAt - lastKnown < resolutionMs) return;
    // The first use since the last write is recorded: a frequent key does not need the client IP of each request.
    if (this.#pending.has(id)) return;
    const isRecent = lastKnown !== null && usedAt - lastKnown < dayMs;
    if (this.#pending.size + this.#inFlight >= (isRecent ? recentMax : limits.lastUsedPendingMax)) return;
    const ip = clientIp();
    const from = ip === undefined ? null : coarseRange(ip);
    // Only a previous secret has an end of the overlap.
    this.#pending.set(
      id,
      overlapEndsAt === null ? { id, at: usedAt, from } : { id, at: usedAt, from, isPrevious: true },
    );
  }

  /** Adds times that another process has recorded. */
  add(uses: readonly KeyUse[]): void {
    for (const use of uses)
      if (this.#pending.size + this.#inFlight < limits.lastUsedPendingMax) this.#pending.set(use.id, use);
  }

  /**
   * Writes the times that were recorded before the call. After an error, those that may not be committed wait for the next
   * flush: writing one again has no effect.
   * @throws the first error of the database
   */
  flush(): Promise<void> {
    return this.#flush.call();
  }

  async #writePending(): Promise<void> {
    const uses = [...this.#pending.values()];
    this.#pending = new Map();
    this.#inFlight = uses.length;
    for (let start = 0; start < uses.length; start += rowsPerWriteMax) {
      const batch = uses.slice(start, start + rowsPerWriteMax);
      try {
        await this.#write(batch);
        this.#inFlight -= batch.length;
      } catch (error) {
        this.#putBack(uses.slice(start));
        throw error;
      }
    }
  }

  /** They keep their places, so there is always room. A later use of the same key replaces an earlier one. */
  #putBack(uses: readonly KeyUse[]): void {
    this.#inFlight = 0;
    this.#pending = new Map([...uses.map((use) => [use.id, use] as const), ...this.#pending]);
  }
}
