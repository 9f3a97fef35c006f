/** Rows of the audit trail. */
import type { Transaction } from '../db/db.ts';
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
