/**
 * The time that has certainly passed. It follows the clock, except across a jump forward: then it advances by a monotonic
 * clock only, until an operator confirms the clock. It is stored, so a restart does not confirm a jump.
 */
import { dayMs, monotonicMs, type Clock } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { newestEventAt } from '../audit/store.ts';
import { findRetentionState, lockRetentionStateTx, setPassedTx } from './store.ts';

/**
 * A pause of the service looks like a jump of the clock. A jump up to this bound needs no confirmation. The bound applies to the
 * sum of all jumps since the last start of any process: otherwise, a clock that is set forward repeatedly would remove
 * everything. The processes share the sum in the row: a process cannot distinguish a confirmation from the jump of another one.
 */
export const jumpDaysMax = 3;

export interface PassedTime {
  /** In milliseconds. Not after the time of the clock. */
  readonly at: number;
  /** By how much the clock is ahead of what is plausible, in milliseconds; 0 if it is plausible. */
  readonly jumpMs: number;
}

/** Before the first run, the last change of the installation is the only evidence of the time that has passed. */
const firstPassedAt = async (reader: Reader, now: number): Promise<number> => (await newestEventAt(reader)) || now;

/** For a command, which has not measured the time since the last run. @returns whether the clock has not jumped forward */
export async function isClockPlausible(reader: Reader, now: number): Promise<boolean> {
  const passedAt = (await findRetentionState(reader))?.passedAt ?? (await firstPassedAt(reader, now));
  return now - passedAt <= jumpDaysMax * dayMs;
}

export class PassedTimes {
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  /** What this process stored last; undefined before its first call of `advance`. */
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
    const at = await db.transaction((tx) => this.#advanceTx(tx, now, monotonic));
    this.#seen = { at, monotonic };
    return { at: Math.min(now, at), jumpMs: Math.max(0, now - at) };
  }

  /** An operator has confirmed the clock. */
  async confirmTx(tx: Transaction): Promise<void> {
    await setPassedTx(tx, { passedAt: this.#clock.now(), jumpedMs: 0 });
  }

  /** @returns the stored time */
  async #advanceTx(tx: Transaction, now: number, monotonic: number): Promise<number> {
    const state = await lockRetentionStateTx(tx);
    const before = state?.passedAt ?? (await firstPassedAt(tx, now));
    // Only a confirmation sets the time back. What this process stored before the confirmation no longer counts.
    const seen = this.#seen && this.#seen.at <= before ? this.#seen : undefined;
    const certain = Math.max(before, seen ? seen.at + (monotonic - seen.monotonic) : before);
    const jumpedMs = this.#seen ? (state?.jumpedMs ?? 0) : 0;
    const jumpMs = Math.ceil(Math.max(0, now - certain));
    const isPlausible = jumpedMs + jumpMs <= jumpDaysMax * dayMs;
    // Whole milliseconds: the monotonic clock has fractions.
    const passedAt = Math.floor(isPlausible ? Math.max(now, certain) : certain);
    const next = { passedAt, jumpedMs: isPlausible ? jumpedMs + jumpMs : jumpedMs };
    if (passedAt !== state?.passedAt || next.jumpedMs !== state.jumpedMs) await setPassedTx(tx, next);
    return passedAt;
  }
}
