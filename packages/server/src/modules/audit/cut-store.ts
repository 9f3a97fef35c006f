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
// Another process may have moved the cut, and a restore may have replaced the events. The MAC of the last removed event
// covers all earlier ones.
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
const deleteUnchained = sql(
  'delete_unchained_audit_events',
  `delete from audit_events where id in (
     select id from audit_events where chain is null and at < $1 order by id limit $2)`,
);
const selectUnchained = sql<{ id: number }>(
  'has_unchained_audit_events',
  'select id from audit_events where chain is null limit 1',
);
/** PostgreSQL's sum of bigint is numeric, which the driver returns as text. */
const selectGrowth = sql<{ events: number }>(
  'count_kept_audit_events',
  `select cast((select coalesce(sum(events), 0) from audit_chains) - (select coalesce(sum(position), 0) from audit_cuts) as bigint) as events`,
);

export const listCuts = (reader: Reader): Promise<StoredCut[]> => reader.all(selectCuts);

/**
 * Removes the events of a chain after the position `after` up to the cut, and records the cut. Locks the first chain.
 * @returns false if the chain has another cut or other events by now; nothing has changed then
 * @throws Error if events are missing, DomainError `unavailable` if the root key has changed since this process opened the
 *   database, so that the seal would have the earlier key; the transaction must not commit
 */
export async function cutChainTx(tx: Transaction, after: number, cut: StoredCut): Promise<boolean> {
  const { chain, position, mac, eventsBefore, days, cutAt, seal } = cut;
  await assertAuditKeyTx(tx);
  if ((await tx.run(moveCut, [chain, after, position, mac, eventsBefore, days, cutAt, seal])) === 0) return false;
  const removed = await tx.run(deleteRemoved, [chain, after, position]);
  if (removed !== position - after)
    throw new Error(`chain ${chain} has ${removed} events of positions ${after + 1} to ${position}`);
  return true;
}

/**
 * Deletes events of versions without chains. Locks the first chain. These events precede all events with a chain.
 * @returns the number of deleted events
 * @throws DomainError as {@link cutChainTx}
 */
export async function deleteUnchainedTx(tx: Transaction, before: number, max: number): Promise<number> {
  await assertAuditKeyTx(tx);
  return tx.run(deleteUnchained, [before, max]);
}

export const hasUnchained = async (reader: Reader): Promise<boolean> =>
  (await reader.get(selectUnchained)) !== undefined;

/** Events in chains. Reads one row for each chain. */
export const countKeptEvents = async (reader: Reader): Promise<number> => (await reader.get(selectGrowth))?.events ?? 0;

/** @returns a time before which events may be missing, in milliseconds; 0 if no event was removed */
export const cutTimeOf = (cuts: readonly StoredCut[]): number =>
  cuts.reduce((latest, { eventsBefore }) => Math.max(latest, eventsBefore), 0);
