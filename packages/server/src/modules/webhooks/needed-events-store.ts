/** Which audit events webhooks still need: events that are not published yet, and those of deliveries that can be replayed. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

// Without an enabled endpoint, no event waits for publication. The subselect uses `webhook_deliveries_event`.
const selectNeeded = sql<{ chain: number; unpublished: number | null; delivered: number | null }>(
  'list_positions_needed_by_webhooks',
  `select c.chain,
     case when exists (select 1 from webhook_endpoints where disabled_at is null) then coalesce(p.position, 0) + 1 end
       as unpublished,
     (select min(position) from webhook_deliveries d where d.chain = c.chain) as delivered
   from audit_chains c left join webhook_progress p on p.chain = c.chain order by c.chain`,
);

/** @returns by chain: the first position in the audit log that is needed; a chain without such an event is left out */
export async function listNeededPositions(reader: Reader): Promise<Map<number, number>> {
  const rows = await reader.all(selectNeeded);
  const firsts = rows.map(
    ({ chain, unpublished, delivered }) => [chain, Math.min(unpublished ?? Infinity, delivered ?? Infinity)] as const,
  );
  return new Map(firsts.filter(([, first]) => first !== Infinity));
}
