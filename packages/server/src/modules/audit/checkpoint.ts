/**
 * Takes checkpoints. An audit log that was truncated together with its counters looks complete. A checkpoint that was
 * stored elsewhere, such as in the log, shows that events are missing.
 */
import type { AuditKey, Reader } from '../../foundation/database/db.ts';
import { checkpointOf } from './chain.ts';
import { listHeads } from './store.ts';

export interface TakenCheckpoint {
  readonly text: string;
  /** Number of covered events in all chains. */
  readonly events: number;
}

/** @returns a checkpoint of the current audit log; undefined without a chained event */
export async function takeCheckpoint(reader: Reader, key: AuditKey): Promise<TakenCheckpoint | undefined> {
  const heads = (await listHeads(reader)).filter(({ position }) => position > 0);
  if (heads.length === 0) return undefined;
  const events = heads.reduce((sum, { position }) => sum + position, 0);
  return { text: checkpointOf(key, heads).text, events };
}
