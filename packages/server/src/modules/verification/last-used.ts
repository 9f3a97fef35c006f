/**
 * When keys were last used: collected in memory and written in batches, so that no verification waits for a write.
 * The times are for people; losing the last few in a crash harms nobody.
 */
import { limits } from '@keyreeve/contract';

export type WriteLastUsed = (usedAtById: ReadonlyMap<number, number>) => Promise<void>;

const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
/** Small, so that a write never keeps others waiting for long. */
const rowsPerWriteMax = 500;

export class LastUsed {
  readonly #write: WriteLastUsed;
  #pending = new Map<number, number>();

  constructor(write: WriteLastUsed) {
    this.#write = write;
  }

  /** @param lastKnown what the database said when the key was verified */
  note(id: number, usedAt: number, lastKnown: number | null): void {
    if (lastKnown !== null && usedAt - lastKnown < resolutionMs) return;
    if (this.#pending.size < limits.lastUsedPendingMax) this.#pending.set(id, usedAt);
  }

  /** Writes what was collected. What can't be written is dropped. */
  async flush(): Promise<void> {
    const pending = [...this.#pending];
    this.#pending = new Map();
    for (let start = 0; start < pending.length; start += rowsPerWriteMax) {
      await this.#write(new Map(pending.slice(start, start + rowsPerWriteMax)));
    }
  }
}
