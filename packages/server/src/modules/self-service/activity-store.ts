/** Reads the audit events of an account for its owner, with the client of the session that a sign-in created. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface ActivityRow {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  /** JSON, or any text if the row was damaged. */
  readonly details: string | null;
  /** Null unless the event created a session that still has a row. */
  readonly clientIp: string | null;
  readonly userAgent: string | null;
}

// By the index on account and id, so a page reads no more events than it returns. The time is not a condition: an account
// whose events are all older would cause a read of all of them.
const selectPage = sql<ActivityRow>(
  'page_of_activity',
  `select e.id, e.at, e.actor, e.action, e.target, e.details, s.client_ip as "clientIp", s.user_agent as "userAgent"
   from (select id, at, actor, action, target, details from audit_events where account_id = $1 and id < $2
     order by id desc limit $3) e
     left join sessions s on e.action = 'session.created' and s.id = e.target
       and s.account_pk = (select pk from accounts where accounts.id = $1)
   order by e.id desc`,
);

/** At most `count` events with a lower id than `before`, newest first. */
export const listActivity = (
  reader: Pick<Reader, 'all'>,
  accountId: string,
  before: number,
  count: number,
): Promise<ActivityRow[]> => reader.all(selectPage, [accountId, before, count]);
