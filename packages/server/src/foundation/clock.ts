/**
 * The current time. Only this file reads the system's clock; other code gets a Clock as an argument. It imports nothing of the
 * project: the writer thread and the hashing threads load it, and the contract would take most of the time of their start.
 */
import { setTimeout } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since 1970 in UTC. */
  now(): number;
  /**
   * Whether this is the clock of the machine. Only then does the clock of a PostgreSQL database decide what has expired: a
   * test with its own clock would otherwise wait for the real time.
   */
  readonly isSystem?: boolean;
}

export const systemClock: Clock = { now: () => Date.now(), isSystem: true };

/**
 * The time that decides what has expired, in milliseconds: all instances agree on the clock of a PostgreSQL database, while
 * the clock of this process may be wrong.
 * @param readAt the time of the database at the read; null on SQLite
 */
export const expiryTime = (clock: Clock, readAt: number | null): number =>
  clock.isSystem === true ? (readAt ?? clock.now()) : clock.now();

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/**
 * A stored time that is further in the future than this was written while a clock was ahead. More than the difference between
 * the clocks of instances that run.
 */
export const aheadMsMax = hourMs;

/** ISO 8601 in UTC with milliseconds. */
export const toInstant = (ms: number): string => new Date(ms).toISOString();

/** Milliseconds of a monotonic clock: only for durations. */
export const monotonicMs = (): number => performance.now();

/** Durations and waits. Code that guarantees a duration gets them as an argument, so that a test can advance the time. */
export interface Timers {
  /** Milliseconds of a monotonic clock: only for durations. */
  monotonicMs(): number;
  /** Resolves after `ms`. Without `isRef`, the wait does not keep the process running. */
  sleep(ms: number, options?: { readonly isRef?: boolean }): Promise<void>;
}

export const systemTimers: Timers = {
  monotonicMs,
  sleep: (ms, { isRef = true } = {}) => setTimeout(ms, undefined, { ref: isRef }),
};
