/** SQL of the log of webhook deliveries. */
import { toInstant } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { CountedPart } from '../../foundation/database/totals.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import { insertJobTx, type NewJobRow } from '../outbox/store.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import type { LoggedEvent } from './events.ts';
import { assertEnabledTx } from './store.ts';

/** `[at, status, ms, error]`. */
export type StoredAttempt = readonly [at: number, status: number | null, ms: number, error: string | null];

/** New attempts of one delivery. */
export interface TriedDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly type: string;
  readonly eventAt: number;
  /** Of the audit event. */
  readonly chain: number;
  readonly position: number;
  /** Oldest first, at least one. */
  readonly attempts: readonly StoredAttempt[];
}

export type DeliveryState = 'waiting' | 'delivered' | 'failed';

export interface DeliveryRow {
  readonly id: string;
  readonly type: string;
  /** Null without an account, or without the event. */
  readonly accountId: string | null;
  readonly eventAt: number;
  readonly startedAt: number;
  readonly state: DeliveryState;
  /** Null unless it is waiting. */
  readonly nextAttemptAt: number | null;
  readonly attemptCount: number;
  /** JSON array of {@link StoredAttempt}. */
  readonly attempts: string;
}

export interface DeliveryFilter {
  readonly endpointId: string;
  readonly state?: DeliveryState | undefined;
}

/** The place of a delivery in the list. */
export interface DeliveryPlace {
  readonly startedAt: number;
  readonly id: string;
}

const selectTried = sql<{ id: string; attemptCount: number; attempts: string }>(
  'select_tried_webhook_deliveries',
  onList('select id, attempt_count as "attemptCount", attempts from webhook_deliveries where id in ({ids})'),
);
const columns = `id, endpoint_id, type, event_at, chain, position, started_at, tried_at, delivered, attempt_count, attempts`;
const onConflict = `on conflict (id) do update set tried_at = excluded.tried_at, delivered = excluded.delivered,
  attempt_count = excluded.attempt_count, attempts = excluded.attempts`;
const saveTried = sql('save_webhook_deliveries', {
  sqlite: `insert into webhook_deliveries (${columns})
    select value ->> '$.id', value ->> '$.endpointId', value ->> '$.type', value ->> '$.eventAt', value ->> '$.chain',
      value ->> '$.position', value ->> '$.startedAt', value ->> '$.triedAt', value ->> '$.delivered',
      value ->> '$.attemptCount', value ->> '$.attempts'
    from json_each($1) where true ${onConflict}`,
  postgres: `insert into webhook_deliveries (${columns})
    select id, "endpointId", type, "eventAt", chain, position, "startedAt", "triedAt", delivered, "attemptCount", attempts
    from json_to_recordset($1::json) as given (id text, "endpointId" text, type text, "eventAt" bigint, chain bigint,
      position bigint, "startedAt" bigint, "triedAt" bigint, delivered integer, "attemptCount" bigint, attempts text)
    order by id ${onConflict}`,
});

// A job in the outbox means that an attempt follows. Jobs of a deleted or disabled endpoint are removed with it.
const state = `case when "nextAttemptAt" is not null then 'waiting' when delivered = 1 then 'delivered' else 'failed' end`;
// After a restore, another event can be at the place.
const shown = (where: string): string => `select id, type, "eventAt", "startedAt", ${state} as state, "nextAttemptAt",
     "attemptCount", attempts, (select account_id from audit_events e
       where e.chain = deliveries.chain and e.position = deliveries.position and e.at = deliveries."eventAt") as "accountId"
   from (
     select id, chain, position, type, event_at as "eventAt", started_at as "startedAt", delivered, attempt_count as "attemptCount", attempts,
       (select due_at from outbox where outbox.id = webhook_deliveries.id) as "nextAttemptAt"
     from webhook_deliveries where endpoint_id = $1 and ${where}) deliveries`;
const list = sql<DeliveryRow>(
  'list_webhook_deliveries',
  `${shown('(started_at, id) < ($2, $3)')} where $4 = '' or ${state} = $4 order by "startedAt" desc, id desc limit $5`,
);
const next = `from webhook_deliveries where endpoint_id = $1 and (started_at, id) < ($2, $3) order by started_at desc, id desc`;
const countNext = sql<{ count: number }>(
  'count_webhook_deliveries',
  `select count(*) as count from (
     select delivered, (select due_at from outbox where outbox.id = tried.id) as "nextAttemptAt"
     from (select id, delivered ${next} limit $5) tried) deliveries where $4 = '' or ${state} = $4`,
);
const lastCounted = sql<DeliveryPlace>(
  'last_counted_webhook_delivery',
  `select started_at as "startedAt", id ${next} limit 1 offset $4`,
);
const selectOne = sql<DeliveryRow>('select_webhook_delivery', shown('id = $2'));
const selectFailed = sql<{ id: string }>(
  'list_failed_webhook_deliveries',
  `select id from webhook_deliveries
   where endpoint_id = $1 and tried_at >= $2 and delivered = 0
     and not exists (select 1 from outbox where outbox.id = webhook_deliveries.id)
   order by started_at desc, id desc limit $3`,
);
const selectEvents = sql<LoggedEvent & { readonly deliveryId: string }>(
  'list_events_of_webhook_deliveries',
  onList(
    `select d.id as "deliveryId", e.chain, e.position, e.mac, e.at, e.actor, e.action, e.account_id as "accountId", e.target, e.details
     from webhook_deliveries d join audit_events e on e.chain = d.chain and e.position = d.position where d.id in ({ids})`,
  ),
);
const deleteOld = sql(
  'delete_old_webhook_deliveries',
  `delete from webhook_deliveries where id in (
     select id from webhook_deliveries where started_at < $1 order by started_at limit $2)`,
);
const deleteExcess = sql(
  'delete_excess_webhook_deliveries',
  `delete from webhook_deliveries where id in (
     select id from webhook_deliveries where endpoint_id = $1 order by started_at desc, id desc limit $2 offset $3)`,
);
const selectEndpoints = sql<{ endpointId: string | null }>(
  'list_endpoints_of_webhook_deliveries',
  `with recursive logged (id) as (
     select min(endpoint_id) from webhook_deliveries
     union all
     select (select min(endpoint_id) from webhook_deliveries where endpoint_id > logged.id) from logged where logged.id is not null)
   select id as "endpointId" from logged where id is not null`,
);

/**
 * Adds attempts in one transaction. Two processes never try the same delivery at once, so a lost attempt needs a flush that is
 * late by the length of a claim.
 * @param attemptsMax of each delivery, only the last ones are kept
 */
export async function saveTriedDeliveries(db: Db, tried: readonly TriedDelivery[], attemptsMax: number): Promise<void> {
  await db.transaction(async (tx) => {
    const stored = await tx.all(selectTried, [JSON.stringify(tried.map(({ id }) => id))]);
    const byId = new Map(stored.map((row) => [row.id, row]));
    const rows = tried.map(({ attempts: added, ...delivery }) => {
      const before = byId.get(delivery.id);
      const attempts = [...(before ? (JSON.parse(before.attempts) as StoredAttempt[]) : []), ...added];
      const [startedAt, last] = [added[0]?.[0] ?? 0, added.at(-1)];
      return {
        ...delivery,
        startedAt,
        triedAt: last?.[0] ?? startedAt,
        delivered: last?.[3] === null ? 1 : 0,
        attemptCount: (before?.attemptCount ?? 0) + added.length,
        attempts: JSON.stringify(attempts.slice(-attemptsMax)),
      };
    });
    await tx.run(saveTried, [JSON.stringify(rows)]);
  });
}

/** The start of the list, before the most recent delivery. */
export const newestDelivery: DeliveryPlace = { startedAt: Number.MAX_SAFE_INTEGER, id: '' };

/** The most recently begun first. @param before only deliveries after this place in the list */
export const listDeliveries = (
  reader: Reader,
  { endpointId, state: wanted }: DeliveryFilter,
  before: DeliveryPlace,
  limit: number,
): Promise<DeliveryRow[]> => reader.all(list, [endpointId, before.startedAt, before.id, wanted ?? '', limit]);

/** How many of the next deliveries of the list match the filter. */
export async function countDeliveries(
  reader: Reader,
  { endpointId, state: wanted }: DeliveryFilter,
  before: DeliveryPlace,
  rows: number,
): Promise<CountedPart<DeliveryPlace>> {
  const place = [endpointId, before.startedAt, before.id];
  const matching = (await reader.get(countNext, [...place, wanted ?? '', rows]))?.count ?? 0;
  return { matching, last: await reader.get(lastCounted, [...place, rows - 1]) };
}

/** @returns undefined without the delivery; its event, or undefined if the audit log no longer has it */
export async function findDelivery(
  reader: Reader,
  endpointId: string,
  id: string,
): Promise<{ readonly delivery: DeliveryRow; readonly event: LoggedEvent | undefined } | undefined> {
  const delivery = await reader.get(selectOne, [endpointId, id]);
  if (!delivery) return undefined;
  const [event] = await reader.all(selectEvents, [JSON.stringify([id])]);
  return { delivery, event };
}

export interface ReplayRequest {
  readonly principal: Principal;
  readonly endpointId: string;
  readonly now: number;
  /** @returns undefined if it is not the event of the delivery */
  readonly makeJob: (event: LoggedEvent, deliveryId: string) => NewJobRow | undefined;
}

/**
 * @throws DomainError `webhook_not_found`, `webhook_disabled`, `webhook_delivery_not_found`, `webhook_event_missing`,
 *   `invalid_access_token`
 */
export async function replayDelivery(db: Db, request: ReplayRequest, deliveryId: string): Promise<void> {
  const { principal, endpointId, now } = request;
  await db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    await assertEnabledTx(tx, endpointId);
    if (!(await tx.get(selectOne, [endpointId, deliveryId]))) throw new DomainError('webhook_delivery_not_found');
    if ((await queueTx(tx, request, [deliveryId])) === 0) throw new DomainError('webhook_event_missing');
    const details = { delivery: deliveryId };
    await recordEventTx(tx, { at: now, principal, action: 'webhook.replayed', target: endpointId, details });
  });
}

/**
 * Deliveries that failed at `since` or later, in milliseconds; at most `max`.
 * @throws DomainError `webhook_not_found`, `webhook_disabled`, `invalid_access_token`
 */
export async function replayFailed(
  db: Db,
  request: ReplayRequest,
  since: number,
  max: number,
): Promise<{ replayed: number; skipped: number; hasMore: boolean }> {
  const { principal, endpointId, now } = request;
  return db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    await assertEnabledTx(tx, endpointId);
    const failed = await tx.all(selectFailed, [endpointId, since, max + 1]);
    const ids = failed.slice(0, max).map(({ id }) => id);
    const replayed = await queueTx(tx, request, ids);
    const details = { since: toInstant(since), deliveries: replayed };
    if (replayed > 0)
      await recordEventTx(tx, { at: now, principal, action: 'webhook.replayed', target: endpointId, details });
    return { replayed, skipped: ids.length - replayed, hasMore: failed.length > max };
  });
}

/** @returns the number of deliveries whose events exist */
async function queueTx(tx: Transaction, { makeJob }: ReplayRequest, ids: readonly string[]): Promise<number> {
  const events = await tx.all(selectEvents, [JSON.stringify(ids)]);
  const jobs = events.flatMap((event) => makeJob(event, event.deliveryId) ?? []);
  for (const job of jobs) await insertJobTx(tx, job);
  return jobs.length;
}

/** Deletes deliveries that began before a time, in milliseconds. @returns the number of deleted rows, at most `rowsMax` */
export const deleteOldDeliveries = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOld, [before, rowsMax]));

/** @returns the ids of endpoints, also of deleted ones, that have deliveries in the log */
export const listLoggedEndpoints = async (reader: Reader): Promise<string[]> =>
  (await reader.all(selectEndpoints)).map(({ endpointId }) => endpointId ?? '');

/** Deletes the oldest deliveries of an endpoint beyond `keptMax`. @returns the number of deleted rows, at most `rowsMax` */
export const deleteExcessDeliveries = (db: Db, endpointId: string, keptMax: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteExcess, [endpointId, rowsMax, keptMax]));
