/** Whether a time is recent, for clocks that differ or jump. */
import { limits } from '@keyreeve/contract/limits';

/**
 * Whether `since` is at most `ms` in the past. A time beyond the accepted clock skew in the future is not recent, so a
 * clock that was set back extends no period by more than the skew. All values are milliseconds.
 */
export const isRecent = (now: number, since: number, ms: number): boolean =>
  now - since <= ms && since - now <= limits.clockSkewSeconds * 1000;
