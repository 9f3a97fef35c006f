/**
 * Taking checkpoints. A trail whose end is cut off together with its counters looks whole; who has seen how far it had
 * come elsewhere, in the log, can tell.
 */
import type { AuditKey, Reader } from '../../foundation/database/db.ts';
import { checkpointOf } from './chain.ts';
import { listHeads } from './store.ts';

export interface TakenCheckpoint {
  readonly text: string;
  /** That it stands for, over all chains. */
  readonly events: number;
}

/** Of the trail as it is now; undefined for one without a chained event. */
export async function takeCheckpoint(reader: Reader, key: AuditKey): Promise<TakenCheckpoint | undefined> {
  const heads = (await listHeads(reader)).filter(({ position }) => position > 0);
  if (heads.length === 0) return undefined;
  const events = heads.reduce((sum, { position }) => sum + position, 0);
  return { text: checkpointOf(key, heads).text, events };
}
