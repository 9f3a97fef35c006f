/** Rows of the audit trail. */
import type { Db, Transaction } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly accountId: string | null;
  readonly target: string | null;
  readonly details: string | null;
}

const insertEvent = sql(
  'insert_audit_event',
  `insert into audit_events (at, actor, action, account_id, target, details) values ($1, $2, $3, $4, $5, $6)`,
);

export async function insertAuditEvent(tx: Transaction, row: AuditRow): Promise<void> {
  await tx.run(insertEvent, [row.at, row.actor, row.action, row.accountId, row.target, row.details]);
}

// The index on the account narrows it to the account's own events.
const countByTarget = sql<{ target: string; count: number }>(
  'count_audit_events_by_target',
  `select target, count(*) as count from audit_events
   where account_id = $1 and action = $2 and target is not null group by target`,
);

/** How many events of this action each target has in an account's part of the trail. */
export async function countEventsByTarget(db: Db, accountId: string, action: string): Promise<Map<string, number>> {
  const rows = await db.all(countByTarget, [accountId, action]);
  return new Map(rows.map(({ target, count }) => [target, Number(count)]));
}
