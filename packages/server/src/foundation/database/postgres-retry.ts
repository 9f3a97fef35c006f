/** Which transactions run again: nothing was committed, and another attempt may succeed. */
import { isConnectionLost, isWorthRetrying as isConflict } from './postgres-connection.ts';
import type { Handover } from './postgres-handover.ts';
import { isOutcomeUnknown, isUnavailable } from './unavailable.ts';

export function isWorthRetrying(error: unknown, handover: Handover): boolean {
  if (!(error instanceof Error)) return false;
  if (isConflict(error.cause)) return true;
  return handover.isExpected && isUnavailable(error) && !isOutcomeUnknown(error) && isConnectionLost(error.cause);
}
