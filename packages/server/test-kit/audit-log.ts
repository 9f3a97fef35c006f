/** Reads the whole audit log, for tests. */
import type { AuditRow } from '../src/modules/audit/chain.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';

const listEvents = sql<AuditRow>(
  'list_audit_events',
  `select at, actor, action, account_id as "accountId", target, details from audit_events order by id`,
);

/** All audit events, oldest first. */
export const listAuditEvents = (db: Db): Promise<AuditRow[]> => db.all(listEvents);
