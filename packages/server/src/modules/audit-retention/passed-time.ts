/**
 * The time that has certainly passed. It follows the clock, except across a jump forward: then it advances by a monotonic
 * clock only, until an operator confirms the clock. It is stored, so a restart does not confirm a jump.
 */
import { dayMs, monotonicMs, type Clock } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { newestEventAt } from '../audit/store.ts';
import { lockRetentionStateTx, setPassedTx } from './store.ts';

/**
 * A pause of the service looks like a jump. A shorter one needs no confirmation. All jumps in the life of a process together
 * must be shorter, because a clock that is set forward again and again would otherwise remove everything.
 */
export const jumpDaysMax = 3;

export interface PassedTime {
  /** In milliseconds. Not after the time of the clock. */
  readonly at: number;
  /** By how much the clock is ahead of what is plausible, in milliseconds; 0 if it is plausible. */
  readonly jumpMs: number;
}

export class PassedTimes {
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  /** What was certain when this process began, or when an operator confirmed the clock. */
  #first: { readonly at: number; readonly monotonic: number } | undefined;
  #seen: { readonly at: number; readonly monotonic: number } | undefined;

  /** @param monotonic milliseconds; only tests set it */
  constructor(clock: Clock, monotonic: () => number = monotonicMs) {
    this.#clock = clock;
    this.#monotonic = monotonic;
  }

  /** Stores the time that has passed by now. @throws DomainError `unavailable` */
  async advance(db: Db): Promise<PassedTime> {
    const monotonic = this.#monotonic();
    const now = this.#clock.now();
    const result = await db.transaction((tx) => this.#advanceTx(tx, now, monotonic));
    this.#first ??= { at: result.before, monotonic };
    this.#seen = { at: result.stored, monotonic };
    return { at: Math.min(now, result.stored), jumpMs: Math.max(0, now - result.stored) };
  }

  /** An operator has confirmed the clock. */
  async confirmTx(tx: Transaction): Promise<void> {
    this.#seen = undefined;
    this.#first = undefined;
    await setPassedTx(tx, this.#clock.now());
  }

  async #advanceTx(tx: Transaction, now: number, monotonic: number): Promise<{ before: number; stored: number }> {
    const state = await lockRetentionStateTx(tx);
    // Before the first run, the last change of the installation is the only evidence.
    const before = state?.passedAt ?? ((await newestEventAt(tx)) || now);
    const certain = Math.max(before, this.#seen ? this.#seen.at + (monotonic - this.#seen.monotonic) : before);
    // A later time was confirmed by an operator, in another process.
    if (before > this.#plausibleAt(before, monotonic)) this.#first = undefined;
    const plausible = this.#plausibleAt(before, monotonic);
    // Whole milliseconds: the monotonic clock has fractions.
    const stored = Math.floor(now <= plausible ? Math.max(now, certain) : certain);
    if (stored !== state?.passedAt) await setPassedTx(tx, stored);
    return { before, stored };
  }

  #plausibleAt(before: number, monotonic: number): number {
    const passed = this.#first ? this.#first.at + (monotonic - this.#first.monotonic) : before;
    return passed + jumpDaysMax * dayMs;
  }
}
