/** Rows of the audit trail. */
import type { Db, Reader, Transaction } from '../db/db.ts';
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
  return new Map(rows.map(({ target, count }) => [target, count]));
}

/** An event after which something that worked doesn't, or an account works again. */
export interface RevocationEvent {
  readonly id: number;
  readonly at: number;
  readonly action: string;
  readonly target: string;
}

const revocationColumns = `id, at, action, target from audit_events`;
// By ranges of ids, so that each read is short however few of its events are revocations.
const listRevocations = sql<RevocationEvent>(
  'list_revocation_events',
  `select ${revocationColumns} where id > $1 and id <= $2 and target is not null and action in
     ('api_key.deleted', 'account.deleted', 'account.disabled', 'account.enabled', 'signing_key.revoked') order by id`,
);
const selectNewest = sql<{ id: number; at: number }>(
  'newest_audit_event',
  `select id, at from audit_events order by id desc limit 1`,
);
// Few are newer than any recent time, so it is found among the last.
const selectNewestBefore = sql<{ id: number }>(
  'newest_audit_event_before',
  `select id from audit_events where at < $1 order by id desc limit 1`,
);
const selectMark = sql<{ at: number; action: string; target: string | null }>(
  'audit_event_mark',
  `select at, action, target from audit_events where id = $1`,
);
const selectAbility = sql<RevocationEvent>(
  'newest_account_ability_event',
  `select ${revocationColumns} where account_id = $1 and action in ('account.disabled', 'account.enabled')
   order by id desc limit 1`,
);

/** Of the events with ids above `after` up to `until`. */
export const listRevocationEvents = (reader: Reader, after: number, until: number): Promise<RevocationEvent[]> =>
  reader.all(listRevocations, [after, until]);

/** 0 when there is none. */
export const newestEventId = async (reader: Reader): Promise<number> => (await reader.get(selectNewest))?.id ?? 0;

/** Of the events before a time; 0 when there is none. */
export const newestEventIdBefore = async (reader: Reader, at: number): Promise<number> =>
  (await reader.get(selectNewestBefore, [at]))?.id ?? 0;

/** What tells an event from another that has its id in another trail; empty when there is none. */
export async function findEventMark(reader: Reader, id: number): Promise<string> {
  const row = await reader.get(selectMark, [id]);
  return row ? `${row.at} ${row.action} ${row.target ?? ''}` : '';
}

/** When the newest event was, in milliseconds; 0 when there is none. */
export const newestEventAt = async (reader: Reader): Promise<number> => (await reader.get(selectNewest))?.at ?? 0;

/** When the account was last disabled or enabled, whichever came last. */
export const findAbilityEvent = (reader: Reader, accountId: string): Promise<RevocationEvent | undefined> =>
  reader.get(selectAbility, [accountId]);
