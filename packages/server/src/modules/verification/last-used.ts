/**
 * Times of last use of keys: collected in memory and written in batches, so that no verification waits for a write.
 * They are informative only; a crash loses the times since the last write.
 */
import { limits } from '@keyreeve/contract';

export type WriteLastUsed = (usedAtById: ReadonlyMap<number, number>) => Promise<void>;

const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
/** Small, so that a write does not delay other writes. */
const rowsPerWriteMax = 500;

export class LastUsed {
  readonly #write: WriteLastUsed;
  #pending = new Map<number, number>();

  constructor(write: WriteLastUsed) {
    this.#write = write;
  }

  /** @param lastKnown the time in the row that the verification read, in milliseconds */
  record(id: number, usedAt: number, lastKnown: number | null): void {
    if (lastKnown !== null && usedAt - lastKnown < resolutionMs) return;
    if (this.#pending.size < limits.lastUsedPendingMax) this.#pending.set(id, usedAt);
  }

  /** Writes the collected times. Times of a failed write are dropped. @throws the error of the database */
  async flush(): Promise<void> {
    const pending = [...this.#pending];
    this.#pending = new Map();
    for (let start = 0; start < pending.length; start += rowsPerWriteMax) {
      await this.#write(new Map(pending.slice(start, start + rowsPerWriteMax)));
    }
  }
}
