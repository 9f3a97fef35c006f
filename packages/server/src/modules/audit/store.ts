/** SQL of the audit log. */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { rootKeyChanged } from '../../foundation/database/root-key-changed.ts';
import { sql } from '../../foundation/database/sql.ts';
import { chainOf, chainOfNoAccount, macOf, type AuditRow, type ChainedRow, type Head, type Place } from './chain.ts';

// The row is a lock: other transactions wait before they add to the chain. A rollback leaves no gap. $3: a process that has
// opened the database before a rotation of the root key appends nothing after it.
const reservePlaces = sql<{ events: number }>(
  'reserve_audit_places',
  `insert into audit_chains (chain, events, root_key_version) values ($1, $2, $3)
   on conflict (chain) do update set events = audit_chains.events + excluded.events
     where audit_chains.root_key_version = excluded.root_key_version
   returning events`,
);
// Follows `reservePlaces`. It is a statement of its own, because on PostgreSQL a statement that waited for the lock reads
// a snapshot from before the wait, which lacks the event of the lock's previous holder.
const selectPrevious = sql<{ mac: Uint8Array | null }>(
  'select_previous_audit_event',
  `select mac from audit_events
   where chain = $1 and position = (select events - $2 from audit_chains where chain = $1)`,
);
const insertEvent = sql(
  'insert_audit_event',
  `insert into audit_events (at, actor, action, account_id, target, details, chain, position, mac)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
// Inserts many events, with ids in the order of the array.
const insertEvents = sql('insert_audit_events', {
  sqlite: `insert into audit_events (at, actor, action, account_id, target, details, chain, position, mac)
    select value ->> '$.at', value ->> '$.actor', value ->> '$.action', value ->> '$.accountId', value ->> '$.target',
      value ->> '$.details', value ->> '$.chain', value ->> '$.position', unhex(value ->> '$.mac')
    from json_each($1) order by key`,
  postgres: `insert into audit_events (at, actor, action, account_id, target, details, chain, position, mac)
    select at, actor, action, "accountId", target, details, chain, position, decode(mac, 'hex')
    from rows from (json_to_recordset($1::json) as (at bigint, actor text, action text, "accountId" text, target text,
      details text, chain bigint, position bigint, mac text)) with ordinality
    order by ordinality`,
});

/** The events of transactions that append them at their ends. */
const collecting = new WeakMap<Transaction, { readonly source: string; readonly rows: AuditRow[] }>();

/**
 * Runs the body of a transaction whose parts record events one after another. The events are appended at its end, in one call:
 * chains are locked in ascending order, after all rows, and not for longer than in other transactions.
 * @param source a member of the details of each event
 */
export async function collectingEventsTx<T>(tx: Transaction, source: string, body: () => Promise<T>): Promise<T> {
  const rows: AuditRow[] = [];
  collecting.set(tx, { source, rows });
  try {
    const result = await body();
    collecting.delete(tx);
    await appendAuditEventsTx(tx, rows);
    return result;
  } finally {
    collecting.delete(tx);
  }
}

/** Transactions whose events have a place and no row yet. After an error, a transaction appends no more. */
const appending = new WeakSet<Transaction>();

/** The row of an event. Its details may depend on a statement that is sent together with the reservation of its place. */
export interface NewAuditRow extends Omit<AuditRow, 'details'> {
  readonly details: AuditRow['details'] | Promise<AuditRow['details']>;
}

/**
 * Adds events to their chains. The reservation of the places is issued before the function returns, so it is sent together
 * with other statements of the same turn. The rows are sent with the next statement or the commit. Chains are locked in
 * ascending order, which prevents deadlocks.
 * @param rows a few thousand at most
 * @throws the error of `details`; Error during another call of the same transaction, whose events the new ones would have
 *   to follow
 */
export async function appendAuditEventsTx(tx: Transaction, rows: readonly NewAuditRow[]): Promise<void> {
  const collected = collecting.get(tx);
  if (collected) {
    const details = await allInOrder(rows.map((row) => row.details));
    const withSource = (text: string | null | undefined): string =>
      JSON.stringify({ ...(JSON.parse(text ?? '{}') as object), source: collected.source });
    collected.rows.push(...rows.map((row, index) => ({ ...row, details: withSource(details[index]) })));
    return;
  }
  if (appending.has(tx)) throw new Error('a transaction appends audit events with one call at a time');
  appending.add(tx);
  const chained = await chain(tx, rows);
  appending.delete(tx);
  const [first] = chained;
  if (first === undefined) return;
  if (chained.length === 1) {
    const { at, actor, action, accountId, target, details, chain: number, position, mac } = first;
    tx.enqueue(insertEvent, [at, actor, action, accountId, target, details, number, position, mac]);
    return;
  }
  const values = chained.map((row) => ({ ...row, mac: Buffer.from(row.mac).toString('hex') }));
  tx.enqueue(insertEvents, [JSON.stringify(values)]);
}

/** @returns the events in the given order */
async function chain(tx: Transaction, rows: readonly NewAuditRow[]): Promise<ChainedRow[]> {
  const { rootKeyVersion = 1 } = tx.auditKey;
  const byChain = Map.groupBy(rows.keys(), (index) => chainOf(rows[index]?.accountId ?? null));
  const reserved = [...byChain]
    .toSorted(([one], [other]) => one - other)
    .map(async ([number, indices]) => {
      const values = [number, indices.length];
      const reservation = tx.get(reservePlaces, [...values, rootKeyVersion]);
      const [places, previous] = await allInOrder([reservation, tx.get(selectPrevious, values)]);
      if (!places) throw rootKeyChanged();
      return { number, indices, before: places.events - indices.length, mac: previous?.mac };
    });
  const details = rows.map((row) => row.details);
  const [chains, detailsOfRows] = await allInOrder([allInOrder(reserved), allInOrder(details)]);
  const chained: ChainedRow[] = [];
  for (const { number, indices, before, mac } of chains) {
    let position = before;
    let previous = position === 0 ? undefined : mac;
    for (const index of indices) {
      const row = rows[index];
      if (row === undefined) continue;
      position++;
      const place = { ...row, details: traced(detailsOfRows[index] ?? null, tx.traceId), chain: number, position };
      previous = macOf(tx.auditKey, place, previous);
      chained[index] = { ...place, mac: previous };
    }
  }
  return chained;
}

/**
 * Call it before the transaction writes a seal of the audit log. No rotation of the root key commits until the transaction ends:
 * it locks a chain, and a rotation changes all chains. It locks the first one, because chains are locked in ascending order.
 * @throws DomainError `unavailable` if the root key has changed since this process opened the database
 */
export async function assertAuditKeyTx(tx: Transaction): Promise<void> {
  const { rootKeyVersion = 1 } = tx.auditKey;
  if (!(await tx.get(reservePlaces, [chainOfNoAccount, 0, rootKeyVersion]))) throw rootKeyChanged();
}

/**
 * With the trace id of the request, as a member of the details, which the MAC covers.
 */
function traced(details: string | null, traceId: string | undefined): string | null {
  if (traceId === undefined) return details;
  return JSON.stringify({ ...(JSON.parse(details ?? '{}') as object), traceId });
}

// The index on the account limits the read to the events of the account.
const countByTarget = sql<{ target: string; count: number }>(
  'count_audit_events_by_target',
  `select target, count(*) as count from audit_events
   where account_id = $1 and action = $2 and target is not null group by target`,
);

/** @returns by target: the number of the account's events with this action */
export async function countEventsByTarget(db: Db, accountId: string, action: string): Promise<Map<string, number>> {
  const rows = await db.all(countByTarget, [accountId, action]);
  return new Map(rows.map(({ target, count }) => [target, count]));
}

/** An event that revokes a credential or right, or enables an account. */
export interface RevocationEvent {
  readonly id: number;
  readonly at: number;
  readonly action: string;
  /** The account's id if the event has no target. */
  readonly target: string;
  /** JSON. */
  readonly details: string | null;
}

const revocationColumns = `id, at, action, coalesce(target, account_id) as target, details from audit_events`;
const revocationActions = `'api_key.deleted', 'account.deleted', 'account.disabled', 'account.enabled',
  'signing_key.revoked', 'account.role_changed', 'account.password_set', 'account.password_voided', 'account.compromised',
  'account.email_changed', 'account.email_change_undone', 'second_factor.removed', 'recovery_codes.replaced', 'recovery_code.used',
  'account.second_factor_required', 'webhook.disabled', 'webhook.deleted', 'api_key.disabled', 'api_key.rotated',
  'api_key.previous_ended', 'api_key.updated', 'account.entitlements_set', 'scope.set', 'scope.deleted',
  'service_account.manager_removed', 'api_key.leaked', 'authenticator.removed', 'passkey.removed',
  'identity.unlinked', 'webhook.updated', 'installation.file_applied', 'issuer.updated', 'issuer.removed'`;
// By ranges of ids, so that each read is short however few of its events are revocations.
const listRevocations = sql<RevocationEvent>(
  'list_revocation_events',
  `select ${revocationColumns} where id > $1 and id <= $2 and coalesce(target, account_id) is not null
     and action in (${revocationActions}) order by id`,
);
// Reads the events of one account from the newest on, in the order of the index. Events of the requested time are
// recent.
const listRevocationsAt = sql<RevocationEvent>(
  'list_revocation_events_at',
  `select * from (select ${revocationColumns} where account_id = $1 and at = $2 and action in (${revocationActions})
     order by id desc limit 200) newest order by id`,
);
const selectNewest = sql<{ id: number; at: number }>(
  'newest_audit_event',
  `select id, at from audit_events order by id desc limit 1`,
);
// The time is recent, so only a few newer events are read.
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

/** @returns events with ids above `after`, up to `until` */
export const listRevocationEvents = (reader: Reader, after: number, until: number): Promise<RevocationEvent[]> =>
  reader.all(listRevocations, [after, until]);

/** @returns events of an account with exactly this time, which is that of one transaction */
export const listRevocationEventsAt = (db: Db, accountId: string, at: number): Promise<RevocationEvent[]> =>
  db.all(listRevocationsAt, [accountId, at]);

/** @returns 0 without events */
export const newestEventId = async (reader: Reader): Promise<number> => (await reader.get(selectNewest))?.id ?? 0;

/** @returns the highest id of the events before a time, in milliseconds; 0 without one */
export const newestEventIdBefore = async (reader: Reader, at: number): Promise<number> =>
  (await reader.get(selectNewestBefore, [at]))?.id ?? 0;

/**
 * @returns a text that distinguishes an event from another with the same id after a restore; empty without the event
 */
export async function findEventMark(reader: Reader, id: number): Promise<string> {
  const row = await reader.get(selectMark, [id]);
  return row ? `${row.at} ${row.action} ${row.target ?? ''}` : '';
}

/** @returns the time of the newest event, in milliseconds; 0 without events */
export const newestEventAt = async (reader: Reader): Promise<number> => (await reader.get(selectNewest))?.at ?? 0;

/** @returns the last event that disabled or enabled the account */
export const findAbilityEvent = (reader: Reader, accountId: string): Promise<RevocationEvent | undefined> =>
  reader.get(selectAbility, [accountId]);

/** An event as it is stored. */
export interface StoredEvent extends AuditRow {
  readonly id: number;
  /** Null for an event of a version without chains. */
  readonly chain: number | null;
  readonly position: number | null;
  readonly mac: Uint8Array | null;
}

const eventColumns = `id, at, actor, action, account_id as "accountId", target, details, chain, position, mac
  from audit_events`;
const pageOfEvents = sql<StoredEvent>(
  'page_of_events',
  `select ${eventColumns} where id > $1 and at >= $2 and at < $3 order by id limit $4`,
);
const pageOfAccount = sql<StoredEvent>(
  'page_of_account_events',
  `select ${eventColumns} where account_id = $5 and id > $1 and at >= $2 and at < $3 order by id limit $4`,
);

export interface Span {
  /** In milliseconds, inclusive. */
  readonly since: number;
  /** In milliseconds, exclusive. */
  readonly until: number;
  readonly accountId?: string | undefined;
}

/** Oldest events first. @param after only events with a higher id */
export const listEventsAfter = (
  reader: Reader,
  { since, until, accountId }: Span,
  after: number,
  limit: number,
): Promise<StoredEvent[]> =>
  accountId === undefined
    ? reader.all(pageOfEvents, [after, since, until, limit])
    : reader.all(pageOfAccount, [after, since, until, limit, accountId]);

/** An event in a chain. */
export type PlacedEvent = StoredEvent & Place;

const pageOfChain = sql<PlacedEvent>(
  'page_of_audit_chain',
  `select ${eventColumns} where chain = $1 and position > $2 order by position limit $3`,
);
/** In the order of positions. */
export const listChain = (reader: Reader, number: number, after: number, limit: number) =>
  reader.all(pageOfChain, [number, after, limit]);

const selectChains = sql<{ chain: number; events: number | null }>(
  'list_audit_chains',
  `select e.chain, c.events from (select distinct chain from audit_events where chain is not null
     union select chain from audit_chains union select chain from audit_cuts) e left join audit_chains c on c.chain = e.chain order by e.chain`,
);
/** @returns each chain with its counter; null without a counter */
export const listChains = (reader: Reader): Promise<{ chain: number; events: number | null }[]> =>
  reader.all(selectChains);

const selectHeads = sql<Head>(
  'list_audit_heads',
  `select c.chain, c.events as position, e.mac from audit_chains c
   left join audit_events e on e.chain = c.chain and e.position = c.events order by c.chain`,
);
/** @returns the last place of each chain */
export const listHeads = (reader: Reader): Promise<Head[]> => reader.all(selectHeads);

const pageOfUnchained = sql<StoredEvent>(
  'page_of_unchained_events',
  `select ${eventColumns} where id > $1 and (chain is null or coalesce(position, 0) < 1) order by id limit $2`,
);

/** @returns events without a place, which the program never writes */
export const listUnchained = (reader: Reader, after: number, limit: number): Promise<StoredEvent[]> =>
  reader.all(pageOfUnchained, [after, limit]);
