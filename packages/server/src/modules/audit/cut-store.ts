/** SQL of the cuts of the audit log. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { StoredCut } from './cuts.ts';
import { assertAuditKeyTx } from './store.ts';

const selectCuts = sql<StoredCut>(
  'list_audit_cuts',
  `select chain, position, mac, event_id as "eventId", events_before as "eventsBefore", days, cut_at as "cutAt", seal
   from audit_cuts order by chain`,
);
const selectCut = sql<StoredCut>(
  'find_audit_cut',
  `select chain, position, mac, event_id as "eventId", events_before as "eventsBefore", days, cut_at as "cutAt", seal
   from audit_cuts where chain = $1`,
);
// The MAC of the last removed event covers all earlier ones.
const moveCut = sql(
  'move_audit_cut',
  `insert into audit_cuts (chain, position, mac, event_id, events_before, days, cut_at, seal)
   select chain, position, mac, id, $5, $6, $7, $8 from audit_events where chain = $1 and position = $3 and mac = $4
   on conflict (chain) do update set position = excluded.position, mac = excluded.mac, event_id = excluded.event_id,
     events_before = excluded.events_before, days = excluded.days, cut_at = excluded.cut_at, seal = excluded.seal
   where audit_cuts.position = $2`,
);
const deleteRemoved = sql(
  'delete_cut_audit_events',
  'delete from audit_events where chain = $1 and position > $2 and position <= $3',
);
/** PostgreSQL's sum of bigint is numeric, which the driver returns as text. */
const selectGrowth = sql<{ events: number }>(
  'count_kept_audit_events',
  `select cast((select coalesce(sum(events), 0) from audit_chains) - (select coalesce(sum(position), 0) from audit_cuts) as bigint) as events`,
);

export const listCuts = (reader: Reader): Promise<StoredCut[]> => reader.all(selectCuts);

/**
 * Locks the first chain, so that no other transaction cuts a chain until this one ends. Read the events to remove after it.
 * @returns the cut of the chain; undefined without one
 * @throws DomainError `unavailable` if the root key has changed since this process opened the database, so that the seal of
 *   a new cut would have the earlier key
 */
export async function lockCutTx(tx: Transaction, chain: number): Promise<StoredCut | undefined> {
  await assertAuditKeyTx(tx);
  return tx.get(selectCut, [chain]);
}

/**
 * Removes the events of a chain after the position `after` up to the cut, and records the cut. Call {@link lockCutTx} before.
 * @param after the position of the current cut; 0 without one
 * @throws Error if the chain has another cut or events are missing; the transaction must not commit
 */
export async function cutChainTx(tx: Transaction, after: number, cut: StoredCut): Promise<void> {
  const { chain, position, mac, eventsBefore, days, cutAt, seal } = cut;
  if ((await tx.run(moveCut, [chain, after, position, mac, eventsBefore, days, cutAt, seal])) === 0)
    throw new Error(`chain ${chain} has no event at position ${position}, or no cut at position ${after}`);
  const removed = await tx.run(deleteRemoved, [chain, after, position]);
  if (removed !== position - after)
    throw new Error(`chain ${chain} has ${removed} events of positions ${after + 1} to ${position}`);
}

/** Events in chains. Reads one row for each chain. */
export const countKeptEvents = async (reader: Reader): Promise<number> => (await reader.get(selectGrowth))?.events ?? 0;

/** @returns a time before which events may be missing, in milliseconds; 0 if no event was removed */
export const cutTimeOf = (cuts: readonly StoredCut[]): number =>
  cuts.reduce((latest, { eventsBefore }) => Math.max(latest, eventsBefore), 0);
