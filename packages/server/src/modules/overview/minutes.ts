/**
 * Writes once a minute what this process has counted in memory, and that it runs. Verifications only increment numbers. A crash
 * loses at most the counts of the current minute.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { VerificationDurations } from '../verification/durations.ts';
import {
  deleteInstance,
  deleteOldMinutes,
  saveInstanceTx,
  saveMinutes,
  type InstanceRow,
  type MinuteRow,
} from './store.ts';

/** Counts by result. Absent results are 0. */
export type ByResult = Readonly<Record<string, number>>;

/** What a process counted in a minute. */
export interface MinuteCounts {
  readonly results: ByResult;
  readonly signIns: ByResult;
  readonly hashes: ByResult;
  /** By bucket of `foundation/latency-histogram.ts`: its bounds of verifications, and its bounds of the database. */
  readonly verificationMs: readonly number[];
  readonly databaseMs: readonly number[];
}

/** Numbers since the start of the process, which only rise. */
export interface MinuteSources {
  readonly results: ByResult;
  readonly signIns: ByResult;
  readonly hashes: () => ByResult;
  readonly verificationMs: Pick<VerificationDurations, 'counts'>;
}

export interface MinutesOptions extends Core {
  readonly version: string;
  /** Of the master key that the process has started with. */
  readonly masterKeyId: string;
  /** JSON of the settings that the process has started with. */
  readonly settings: string;
  /** That the process has opened. Undefined: it is not compared. */
  readonly rootKeyVersion?: number | undefined;
  readonly sources: MinuteSources;
}

export const minuteMs = 60_000;
/** While the database does not accept writes. */
const waitingMax = 60;

export class Minutes {
  readonly id = randomId('ins');
  readonly #options: MinutesOptions;
  readonly #startedAt: number;
  /** The row of a write in progress must not return after `stop` has deleted it. */
  readonly #write = new CoalescedCall(() => this.#writeWaiting());
  #last: MinuteCounts;
  #taken: { readonly minute: number; readonly counts: MinuteCounts } | undefined;
  #waiting: MinuteRow[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MinutesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#last = this.#read();
  }

  /**
   * Records that this process has started, and with which master key. A rotation of the master key waits for it.
   * @param mayStart runs in the same transaction
   * @returns whether the process may start
   * @throws DomainError `unavailable`
   */
  async announce(mayStart: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
    return this.#options.db.transaction(async (tx) => {
      if (!(await mayStart(tx))) return false;
      await saveInstanceTx(tx, this.#rowAt(this.#startedAt));
      return true;
    });
  }

  /** Runs until `stop`. @param onFailure called with each error of the database */
  start(onFailure: (error: unknown) => void): void {
    const { clock } = this.#options;
    // At the start of each minute, so that the counts belong to the minute before it.
    const untilNext = minuteMs - (clock.now() % minuteMs);
    this.#timer = setTimeout(() => {
      this.start(onFailure);
      void this.write().catch(onFailure);
    }, untilNext).unref();
  }

  /** Writes the rest, and that this process no longer runs. @throws DomainError `unavailable` */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#take(this.#options.clock.now());
    try {
      await this.write();
    } finally {
      await deleteInstance(this.#options.db, this.id);
    }
  }

  /**
   * Also records that this process runs.
   * @throws DomainError `unavailable`; the counts wait for the next call. After a rotation of the root key: see `saveMinutes`
   */
  write(): Promise<void> {
    return this.#write.call();
  }

  async #writeWaiting(): Promise<void> {
    const { db, clock, rootKeyVersion } = this.#options;
    const now = clock.now();
    // A timer can be a little early or late.
    this.#take(now - minuteMs / 2);
    const minutes = this.#waiting;
    await saveMinutes(db, this.#rowAt(now), minutes, rootKeyVersion);
    this.#waiting = this.#waiting.filter((minute) => !minutes.includes(minute));
  }

  #rowAt(seenAt: number): InstanceRow {
    const { version, masterKeyId, settings } = this.#options;
    return { id: this.id, version, startedAt: this.#startedAt, seenAt, masterKeyId, settings };
  }

  /** @throws DomainError `unavailable` */
  async deleteOld(): Promise<void> {
    const { db, clock } = this.#options;
    await deleteOldMinutes(db, clock.now() - limits.overviewKeptDays * dayMs);
  }

  /**
   * Takes what was counted since the last call. After a pause of the machine, it may belong to the minute of the last call.
   * @param at a time in the minute that it belongs to
   */
  #take(at: number): void {
    const read = this.#read();
    const last = this.#last;
    const counts: MinuteCounts = {
      results: risen(read.results, last.results),
      signIns: risen(read.signIns, last.signIns),
      hashes: risen(read.hashes, last.hashes),
      verificationMs: read.verificationMs.map((count, bucket) => count - (last.verificationMs[bucket] ?? 0)),
      databaseMs: read.databaseMs.map((count, bucket) => count - (last.databaseMs[bucket] ?? 0)),
    };
    this.#last = read;
    const isEmpty = [counts.results, counts.signIns, counts.hashes].every(
      (byResult) => Object.keys(byResult).length === 0,
    );
    if (isEmpty || this.#waiting.length >= waitingMax) return;
    const minute = at - (at % minuteMs);
    // The row replaces an earlier one of the minute, which may be written already.
    this.#taken = { minute, counts: this.#taken?.minute === minute ? sum(this.#taken.counts, counts) : counts };
    const row = { minute, counts: JSON.stringify(this.#taken.counts) };
    this.#waiting = [...this.#waiting.filter((waiting) => waiting.minute !== minute), row];
  }

  #read(): MinuteCounts {
    const { db, sources } = this.#options;
    const { results, signIns, hashes, verificationMs } = sources;
    return {
      results: { ...results },
      signIns: { ...signIns },
      hashes: hashes(),
      verificationMs: verificationMs.counts,
      databaseMs: db.times.byOperation.read.counts,
    };
  }
}

const risen = (now: ByResult, before: ByResult): ByResult =>
  Object.fromEntries(
    Object.entries(now)
      .map(([result, count]) => [result, count - (before[result] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );

const sum = (one: MinuteCounts, other: MinuteCounts): MinuteCounts => ({
  results: sumByResult(one.results, other.results),
  signIns: sumByResult(one.signIns, other.signIns),
  hashes: sumByResult(one.hashes, other.hashes),
  verificationMs: sumByBucket(one.verificationMs, other.verificationMs),
  databaseMs: sumByBucket(one.databaseMs, other.databaseMs),
});

const sumByResult = (one: ByResult, other: ByResult): ByResult =>
  Object.fromEntries(
    Object.keys({ ...one, ...other }).map((result) => [result, (one[result] ?? 0) + (other[result] ?? 0)]),
  );

const sumByBucket = (one: readonly number[], other: readonly number[]): number[] =>
  one.map((count, bucket) => count + (other[bucket] ?? 0));
