/**
 * The time limits of tests. None decides whether the product is correct: a limit ends a test that would never end. A busy machine
 * makes a test slower, so every limit is far longer than the slowest run.
 */
import { availableParallelism, loadavg } from 'node:os';
import type { DatabaseWaits } from '../src/foundation/database/database-waits.ts';

/**
 * Of programs with a clock that tests cannot set: browsers, proxies, PostgreSQL, package managers, the kernel. They get it as
 * their own limit, so that their report names what failed.
 */
export const programMsMax = 600_000;

/**
 * Of the database in the process of a test. Those of the product end an operation that a busy machine only delays; tests of these
 * limits use them.
 */
export const databaseWaits: DatabaseWaits = {
  connectMsMax: programMsMax,
  statementMsMax: programMsMax,
  answerMsMax: programMsMax,
  turnMsMax: programMsMax,
  // A test that stops a server expects failures at once. Tests of a handover set it.
  handoverMsMax: 0,
};

/** Of one test, on a machine that has nothing else to do. */
const watchdogMs = 900_000;

/** @returns the limit of one test at the present load */
export function watchdogMsNow(): number {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return watchdogMs * Math.max(1, load);
}
