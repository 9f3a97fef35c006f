/**
 * Counts verifications of keys by hour in memory. A flush adds them to the table, so that no verification waits for a
 * write. A crash loses the counts since the last flush.
 */
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../foundation/clock.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import type { HourOfKey } from './store.ts';

/** Adds to the table in one commit. */
export type WriteUsage = (hours: readonly HourOfKey[]) => Promise<void>;

/** Since the start, for metrics. */
export interface CountedVerifications {
  /** Added to the table. */
  written: number;
  /** Not counted, because too many rows were waiting. */
  dropped: number;
  /** The commit has an unknown outcome. They are not written again, so no verification is counted twice. */
  unknown: number;
}

interface Count {
  accepted: number;
  refused: number;
}

/** Small, so that a write does not delay other writes. */
const rowsPerWriteMax = 500;

export class UsageCounter {
  readonly totals: CountedVerifications = { written: 0, dropped: 0, unknown: 0 };
  readonly #write: WriteUsage;
  /** By start of the hour and id of the key. */
  #waiting = new Map<number, Map<number, Count>>();
  #hour = Number.NEGATIVE_INFINITY;
  #ofHour = new Map<number, Count>();
  /** Also of the flush in progress. */
  #rows = 0;
  /** A flush that began earlier may have taken its rows before the last verifications, so a caller waits for the next one. */
  readonly #flush = new CoalescedCall(() => this.#flushWaiting());

  constructor(write: WriteUsage) {
    this.#write = write;
  }

  /** Rows that wait for a flush, or for the end of the flush in progress. */
  get rows(): number {
    return this.#rows;
  }

  /** @param now milliseconds */
  accept(keyId: number, now: number): void {
    const count = this.#countOf(keyId, now);
    if (count) count.accepted++;
  }

  /** @param now milliseconds */
  refuse(keyId: number, now: number): void {
    const count = this.#countOf(keyId, now);
    if (count) count.refused++;
  }

  /** Adds what another process has counted. */
  add(hours: readonly HourOfKey[]): void {
    for (const { keyId, at, accepted, refused } of hours) {
      const count = this.#countOf(keyId, at);
      if (count) Object.assign(count, { accepted: count.accepted + accepted, refused: count.refused + refused });
      // One verification has been counted.
      else this.totals.dropped += accepted + refused - 1;
    }
  }

  /**
   * Writes everything that was counted before the call, in commits of at most 500 rows. After an error, the rows that are
   * certainly not committed wait for the next flush.
   * @throws the first error of the database
   */
  flush(): Promise<void> {
    return this.#flush.call();
  }

  /** @returns undefined if too many rows wait */
  #countOf(keyId: number, now: number): Count | undefined {
    if (now < this.#hour || now >= this.#hour + hourMs) this.#enterHour(Math.floor(now / hourMs) * hourMs);
    return this.#ofHour.get(keyId) ?? this.#add(keyId);
  }

  #add(keyId: number): Count | undefined {
    if (this.#rows >= limits.usageRowsPendingMax) {
      this.totals.dropped++;
      return undefined;
    }
    const count = { accepted: 0, refused: 0 };
    this.#ofHour.set(keyId, count);
    this.#rows++;
    return count;
  }

  #enterHour(at: number): void {
    this.#hour = at;
    this.#ofHour = this.#waiting.get(at) ?? new Map();
    this.#waiting.set(at, this.#ofHour);
  }

  async #flushWaiting(): Promise<void> {
    // In the order of the primary key, so that a commit changes few pages: half the processor time on SQLite.
    const hours = [...this.#waiting].flatMap(([at, counts]) =>
      [...counts]
        .toSorted(([one], [other]) => one - other)
        .map(([keyId, { accepted, refused }]) => ({ keyId, at, accepted, refused })),
    );
    this.#waiting = new Map();
    this.#hour = Number.NEGATIVE_INFINITY;
    this.#ofHour = new Map();
    for (let start = 0; start < hours.length; start += rowsPerWriteMax) {
      const batch = hours.slice(start, start + rowsPerWriteMax);
      try {
        await this.#write(batch);
        this.#finish(batch, 'written');
      } catch (error) {
        const isUnknown = isOutcomeUnknown(error);
        if (isUnknown) this.#finish(batch, 'unknown');
        this.#putBack(hours.slice(isUnknown ? start + rowsPerWriteMax : start));
        throw error;
      }
    }
  }

  #finish(hours: readonly HourOfKey[], result: 'written' | 'unknown'): void {
    this.#rows -= hours.length;
    for (const { accepted, refused } of hours) this.totals[result] += accepted + refused;
  }

  #putBack(hours: readonly HourOfKey[]): void {
    // They keep their places, so there is always room.
    this.#rows -= hours.length;
    for (const { keyId, at, accepted, refused } of hours) {
      const counts = this.#waiting.get(at) ?? new Map<number, Count>();
      this.#waiting.set(at, counts);
      const counted = counts.get(keyId);
      if (!counted) this.#rows++;
      counts.set(keyId, {
        accepted: accepted + (counted?.accepted ?? 0),
        refused: refused + (counted?.refused ?? 0),
      });
    }
  }
}
