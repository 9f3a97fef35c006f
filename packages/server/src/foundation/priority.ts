/**
 * The priority of work that can wait, below that of threads that answer requests: password hashes, imports, backups,
 * verification of the audit log (docs/decisions/03-bounds-and-fairness.md).
 */
import { constants, getPriority, setPriority } from 'node:os';

/**
 * With 4, the kernel gives the work 29 % of a core that a thread of the usual priority uses too. With a much higher value,
 * a transaction of an import would keep its locks for too long while verifications use every core.
 */
const niceIncrement = 4;
/** The priority before the first call. */
let usual: number | undefined;

/** The priority of this process before {@link lowerPriority}. */
export const usualPriority = (): number => (usual ??= getPriority());

/**
 * Lowers the priority: on Linux that of the calling thread and of the threads that it starts later (setpriority(2)),
 * elsewhere that of the process. Further calls change nothing. An unprivileged process cannot raise it again.
 * @param from the usual priority. Default: the present one
 * @returns the reason if the priority is unchanged
 */
export function lowerPriority(increment = niceIncrement, from?: number): string | undefined {
  try {
    usual ??= from ?? getPriority();
    setPriority(Math.min(constants.priority.PRIORITY_LOW, usual + increment));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
