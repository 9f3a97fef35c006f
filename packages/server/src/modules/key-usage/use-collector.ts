/**
 * Collects in memory what verifications show of keys: counts by hour, and the first use in each interval between two flushes. No
 * verification waits for a write. `use-records.ts` writes what is collected, in this process or in another one, which gets it as
 * plain values. A crash loses what was not written.
 */
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../foundation/clock.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import { isRecent } from '../../foundation/recent.ts';
import type { KeyState } from '../api-keys/state-store.ts';
import { uncountedId } from '../api-keys/use-store.ts';

/** Verifications of one key in one hour. Without an accepted one, `usedAt` is null. */
export interface CollectedUse {
  readonly keyId: number;
  /** Start of the hour, in milliseconds. */
  readonly at: number;
  accepted: number;
  refused: number;
  /** Of the first accepted verification: `KeyUse` in `api-keys/use-store.ts`. */
  usedAt: number | null;
  usedFrom: string | null;
  changedAt: number;
  isCurrent: boolean;
  previousUsedAt: number | null;
  previousEndsAt: number | null;
}

export type UsedKey = Pick<KeyState, 'id' | 'updatedAt' | 'overlapEndsAt' | 'expiresAt'>;

/** Small, so that neither sorting nor encoding them delays a verification. */
const rowsPerPartMax = 250;
/** Ids of keys are random integers of 53 bits: each range of them has a map, so that the ids can be sorted in small parts. */
const rangeCount = 256;
const idsPerRange = 2 ** 53 / rangeCount;

/** In which the device code of a program could replace the secret. */
export const newMs = (limits.deviceRepeatSeconds + limits.clockSkewSeconds) * 1_000;
const dueMax = 1_000;

/** By range of ids, then by id. */
type HourOfKeys = (Map<number, CollectedUse> | undefined)[];

export class UseCollector {
  /** Verifications that were counted for no key since the start, because too many rows were waiting. */
  dropped = 0;
  /**
   * Called when rows should not wait for the next interval, because many wait, or a new secret was used for the first time; not by
   * {@link putBack}.
   */
  onDue: () => void = () => undefined;
  /** By id of keys whose use was reported as due: the time of their last change. */
  readonly #due = new Map<number, number>();
  /** By start of the hour. */
  #waiting = new Map<number, HourOfKeys>();
  #hour = Number.NEGATIVE_INFINITY;
  #ofHour: HourOfKeys = [];
  #rows = 0;

  /** Rows that wait, also those that were taken and are not released yet. */
  get rows(): number {
    return this.#rows;
  }

  /** @param now milliseconds @param clientIp called for the first use of the key in the interval */
  accept({ id, updatedAt, overlapEndsAt, expiresAt }: UsedKey, now: number, clientIp: () => string | undefined): void {
    const use = this.#useOf(id, now);
    use.accepted++;
    if (use.usedAt === null) {
      use.usedAt = now;
      use.changedAt = updatedAt;
      // Only a previous secret has an end of the overlap.
      use.isCurrent = overlapEndsAt === null;
      const ip = use.keyId === uncountedId ? undefined : clientIp();
      use.usedFrom = ip === undefined ? null : coarseRange(ip);
      // Each key of a program expires.
      if (expiresAt !== null) this.#reportNew(use, now);
    }
    if (overlapEndsAt === null || use.previousUsedAt !== null || use.keyId === uncountedId) return;
    use.previousUsedAt = now;
    use.previousEndsAt = overlapEndsAt;
  }

  /** @param now milliseconds */
  refuse(keyId: number, now: number): void {
    this.#useOf(keyId, now).refused++;
  }

  /** Adds what another collector has collected. */
  add(uses: Iterable<CollectedUse>): void {
    this.#add(uses, true);
  }

  /** Adds what a failed write has not written. It waits for the next interval: an immediate repetition would never end. */
  putBack(uses: Iterable<CollectedUse>): void {
    this.#add(uses, false);
  }

  #add(uses: Iterable<CollectedUse>, isNew: boolean): void {
    for (const given of uses) {
      const use = this.#useOf(given.keyId, given.at, isNew);
      // One verification has been counted.
      if (use.keyId !== given.keyId) this.dropped += given.accepted + given.refused - 1;
      use.accepted += given.accepted;
      use.refused += given.refused;
      if (given.usedAt !== null && isPreferred(given, use)) {
        const { usedAt, usedFrom, changedAt, isCurrent } = given;
        Object.assign(use, { usedAt, usedFrom, changedAt, isCurrent });
        if (isNew) this.#reportNew(use, usedAt);
      }
      if (given.previousUsedAt === null || use.keyId === uncountedId) continue;
      // A rotation replaces the previous secret, so the later use is of the later secret.
      if (use.previousUsedAt !== null && given.previousUsedAt < use.previousUsedAt) continue;
      const { previousUsedAt, previousEndsAt } = given;
      Object.assign(use, { previousUsedAt, previousEndsAt });
    }
  }

  /** Once for each change of a key: a use shortens the time in which a lost response could replace its secret (`approvals`). */
  #reportNew({ keyId, changedAt }: CollectedUse, now: number): void {
    if (keyId === uncountedId || !isRecent(now, changedAt, newMs) || this.#due.get(keyId) === changedAt) return;
    if (this.#due.size >= dueMax) this.#due.clear();
    this.#due.set(keyId, changedAt);
    this.onDue();
  }

  /**
   * Takes everything that waits. The rows keep their places within the bound until {@link release}.
   * @returns for each hour its parts, which are computed when they are read. In the order of the primary key, so that a commit
   *   changes few pages, and so that two transactions lock the rows that they share in the same order
   */
  take(): Generator<CollectedUse[]>[] {
    const taken = [...this.#waiting].toSorted(([one], [other]) => one - other).map(([, hour]) => partsOf(hour));
    this.#waiting = new Map();
    this.#hour = Number.NEGATIVE_INFINITY;
    this.#ofHour = [];
    return taken;
  }

  release(rows: number): void {
    this.#rows -= rows;
  }

  #useOf(keyId: number, now: number, isNew = true): CollectedUse {
    if (now < this.#hour || now >= this.#hour + hourMs) this.#enterHour(Math.floor(now / hourMs) * hourMs);
    return this.#rangeOf(keyId).get(keyId) ?? this.#newUse(keyId, isNew);
  }

  #newUse(keyId: number, isNew: boolean): CollectedUse {
    const isFull = this.#rows >= limits.usageRowsPendingMax && keyId !== uncountedId;
    if (isFull) this.dropped++;
    const id = isFull ? uncountedId : keyId;
    const range = this.#rangeOf(id);
    const known = range.get(id);
    if (known) return known;
    const use: CollectedUse = {
      keyId: id,
      at: this.#hour,
      accepted: 0,
      refused: 0,
      usedAt: null,
      usedFrom: null,
      changedAt: 0,
      isCurrent: false,
      previousUsedAt: null,
      previousEndsAt: null,
    };
    range.set(id, use);
    if (++this.#rows === limits.usageRowsFlushedMax && isNew) this.onDue();
    return use;
  }

  #rangeOf(keyId: number): Map<number, CollectedUse> {
    return (this.#ofHour[Math.floor(keyId / idsPerRange)] ??= new Map());
  }

  #enterHour(at: number): void {
    const known = this.#waiting.get(at);
    this.#hour = at;
    this.#ofHour = known ?? Array.from({ length: rangeCount });
    if (!known) this.#waiting.set(at, this.#ofHour);
  }
}

/** A use after a later change of the key proves more; of uses after the same change, the first one counts. */
const isPreferred = (given: CollectedUse, use: CollectedUse): boolean =>
  use.usedAt === null ||
  given.changedAt > use.changedAt ||
  (given.changedAt === use.changedAt && given.usedAt !== null && given.usedAt < use.usedAt);

function* partsOf(hour: HourOfKeys): Generator<CollectedUse[]> {
  let part: CollectedUse[] = [];
  for (const range of hour) {
    for (const use of [...(range?.values() ?? [])].toSorted((one, other) => one.keyId - other.keyId)) {
      part.push(use);
      if (part.length < rowsPerPartMax) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
