/** SQL of webhook endpoints, and of the position in each chain of the audit log up to which events are published. */
import { system, type Act, type Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { insertJobTx, makeQueueDueTx, removeQueueTx, type NewJobRow } from '../outbox/store.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import type { LoggedEvent } from './events.ts';

export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  /** Sealed with the id. */
  readonly secret: Uint8Array;
  /** Names, separated by spaces. */
  readonly events: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly lastDeliveredAt: number | null;
  readonly lastFailedAt: number | null;
  readonly lastFailure: string | null;
  /** The first failure after the last success. Null if the last attempt succeeded. */
  readonly failingSince: number | null;
}

export interface CountedEndpointRow extends EndpointRow {
  /** Deliveries in the outbox. */
  readonly waiting: number;
  /** When the first of them is due. */
  readonly nextAttemptAt: number | null;
}

export type NewEndpoint = Pick<EndpointRow, 'id' | 'url' | 'secret' | 'events'> & { readonly now: number };

/** Absent values stay. */
export interface EndpointChange {
  readonly id: string;
  readonly url?: string | undefined;
  /** Names, separated by spaces. */
  readonly events?: string | undefined;
  /** Used if the URL is a new one. Sealed with the id. */
  readonly secret: Uint8Array;
}

export interface ChangedEndpoint {
  readonly endpoint: CountedEndpointRow;
  readonly hasNewUrl: boolean;
  /** Whether the receiver at the earlier URL gets less than before. */
  readonly isNarrowed: boolean;
}

export interface UnpublishedEvent extends LoggedEvent {
  /** Events of its chain up to this position are published. */
  readonly publishedUntil: number;
}

/** The queue of an endpoint in the outbox. */
export const queueOf = (id: string): string => `webhook:${id}`;

const columns = `id, url, secret, events, created_at as "createdAt", updated_at as "updatedAt",
  disabled_at as "disabledAt", last_delivered_at as "lastDeliveredAt", last_failed_at as "lastFailedAt",
  last_failure as "lastFailure", failing_since as "failingSince"`;
const ofQueue = `from outbox where queue = 'webhook:' || webhook_endpoints.id`;
const counted = `${columns}, (select count(*) ${ofQueue}) as waiting, (select min(due_at) ${ofQueue}) as "nextAttemptAt"`;

// Held while an endpoint is added or enabled, because that depends on the number of endpoints and sets the progress.
const lockEndpoints = sql('lock_webhook_endpoints', {
  sqlite: `select null`,
  postgres: `lock table webhook_endpoints in share row exclusive mode`,
});
const countEndpoints = sql<{ all: number; enabled: number }>(
  'count_webhook_endpoints',
  `select count(*) as "all", count(*) - count(disabled_at) as enabled from webhook_endpoints`,
);
const insert = sql(
  'insert_webhook_endpoint',
  `insert into webhook_endpoints (id, url, secret, events, created_at, updated_at, disabled_at)
   values ($1, $2, $3, $4, $5, $5, null)`,
);
const listCounted = sql<CountedEndpointRow>(
  'list_webhook_endpoints',
  `select ${counted} from webhook_endpoints order by created_at, id`,
);
const selectCounted = sql<CountedEndpointRow>(
  'select_counted_webhook_endpoint',
  `select ${counted} from webhook_endpoints where id = $1`,
);
const select = sql<EndpointRow>('select_webhook_endpoint', `select ${columns} from webhook_endpoints where id = $1`);
const lockText = `select ${columns} from webhook_endpoints where id = $1`;
const lock = sql<EndpointRow>('lock_webhook_endpoint', { sqlite: lockText, postgres: `${lockText} for update` });
const change = sql(
  'change_webhook_endpoint',
  `update webhook_endpoints set url = $2, events = $3, secret = $4, updated_at = $5 where id = $1`,
);
const clearResults = sql(
  'clear_webhook_results',
  `update webhook_endpoints set last_delivered_at = null, last_failed_at = null, last_failure = null, failing_since = null
   where id = $1`,
);
const updateSecret = sql(
  'update_webhook_secret',
  `update webhook_endpoints set secret = $2, updated_at = $3 where id = $1`,
);
const disable = sql(
  'disable_webhook_endpoint',
  `update webhook_endpoints set disabled_at = $2, updated_at = $2
   where id = $1 and disabled_at is null and ($3 = '' or url = $3)`,
);
const enable = sql(
  'enable_webhook_endpoint',
  `update webhook_endpoints set disabled_at = null, updated_at = $2, last_failed_at = null, last_failure = null,
     failing_since = null
   where id = $1 and disabled_at is not null`,
);
const remove = sql('delete_webhook_endpoint', `delete from webhook_endpoints where id = $1`);
// The result of an attempt that began before a change of the URL does not count for the new URL.
const updateDelivered = sql(
  'update_webhook_delivered',
  `update webhook_endpoints set last_delivered_at = $3, failing_since = null where id = $1 and url = $2`,
);
const updateFailed = sql(
  'update_webhook_failed',
  `update webhook_endpoints set last_failed_at = $3, last_failure = $4, failing_since = coalesce(failing_since, $3)
   where id = $1 and url = $2`,
);

const listSubscribed = sql<Pick<EndpointRow, 'id' | 'events'>>(
  'list_enabled_webhook_endpoints',
  `select id, events from webhook_endpoints where disabled_at is null order by id`,
);
// Events of each chain after its progress. Reads nothing without an enabled endpoint.
const selectUnpublished = sql<UnpublishedEvent>(
  'list_unpublished_events',
  `select coalesce(p.position, 0) as "publishedUntil", e.chain, e.position, e.mac, e.at, e.actor, e.action, e.account_id as "accountId", e.target, e.details
   from audit_chains c left join webhook_progress p on p.chain = c.chain
     join audit_events e on e.chain = c.chain and e.position > coalesce(p.position, 0)
       and e.position <= coalesce(p.position, 0) + $1
   where c.events > coalesce(p.position, 0)
     and exists (select 1 from webhook_endpoints where disabled_at is null)
   order by e.chain, e.position`,
);
// One of several instances that have read the same events publishes them. The event must still exist: a restore may
// have replaced the audit log meanwhile, and new events at the same positions must not be skipped.
const advance = sql(
  'advance_webhook_progress',
  `insert into webhook_progress (chain, position)
   select chain, position from audit_events where chain = $1 and position = $3 and mac = $4
   on conflict (chain) do update set position = excluded.position where webhook_progress.position = $2`,
);
const skipToNow = sql(
  'skip_webhook_progress',
  `insert into webhook_progress (chain, position) select chain, events from audit_chains where true order by chain
   on conflict (chain) do update set position = excluded.position`,
);

/** @throws DomainError `invalid_access_token`, `webhook_limit_reached` */
export async function createEndpointTx(
  tx: Transaction,
  principal: Principal,
  { id, url, secret, events, now }: NewEndpoint,
  endpointsMax: number,
): Promise<void> {
  await assertSessionValidTx(tx, { principal, now });
  const { all, enabled } = await lockAndCount(tx);
  if (all >= endpointsMax) throw new DomainError('webhook_limit_reached');
  if (enabled === 0) await tx.run(skipToNow);
  await tx.run(insert, [id, url, secret, events, now]);
  const details = { events: events.split(' ') };
  await recordEventTx(tx, { at: now, principal, action: 'webhook.created', target: id, details });
}

export const listEndpoints = (db: Db): Promise<CountedEndpointRow[]> => db.all(listCounted);
export const findCountedEndpoint = (db: Db, id: string): Promise<CountedEndpointRow | undefined> =>
  db.get(selectCounted, [id]);
/** On PostgreSQL, the endpoint does not change before the transaction ends. */
export const lockEndpointTx = (tx: Transaction, id: string): Promise<EndpointRow | undefined> => tx.get(lock, [id]);

export const findEndpoint = (db: Pick<Reader, 'get'>, id: string): Promise<EndpointRow | undefined> =>
  db.get(select, [id]);

/**
 * @param replace receives the stored secret and returns the new one, both sealed
 * @throws DomainError `webhook_not_found`
 */
export async function replaceSecretTx(
  tx: Transaction,
  { principal, now }: Act,
  id: string,
  replace: (stored: Uint8Array) => Uint8Array,
): Promise<void> {
  await assertSessionValidTx(tx, { principal, now });
  const row = await tx.get(lock, [id]);
  if (!row) throw new DomainError('webhook_not_found');
  await tx.run(updateSecret, [id, replace(row.secret), now]);
  await recordEventTx(tx, { at: now, principal, action: 'webhook.secret_rotated', target: id });
}

/**
 * Waiting deliveries stay: the sender reads URL and secret together, so those to a new URL are signed with its secret only.
 * @throws DomainError `webhook_not_found`, `invalid_access_token`
 */
export async function changeEndpointTx(
  tx: Transaction,
  { principal, now }: Act,
  { id, secret, ...changed }: EndpointChange,
): Promise<ChangedEndpoint> {
  await assertSessionValidTx(tx, { principal, now });
  const before = await tx.get(lock, [id]);
  if (!before) throw new DomainError('webhook_not_found');
  const { url = before.url, events = before.events } = changed;
  const hasNewUrl = url !== before.url;
  const kept = new Set(events.split(' '));
  const narrowed = [
    ...(hasNewUrl ? ['url'] : []),
    ...(before.events.split(' ').every((event) => kept.has(event)) ? [] : ['events']),
  ];
  if (hasNewUrl || events !== before.events) {
    await tx.run(change, [id, url, events, hasNewUrl ? secret : before.secret, now]);
    if (hasNewUrl) {
      await tx.run(clearResults, [id]);
      await makeQueueDueTx(tx, queueOf(id), now);
    }
    const details = { hasNewUrl, ...(events === before.events ? {} : { events: events.split(' ') }), narrowed };
    await recordEventTx(tx, { at: now, principal, action: 'webhook.updated', target: id, details });
  }
  const endpoint = await tx.get(selectCounted, [id]);
  if (!endpoint) throw new DomainError('webhook_not_found');
  return { endpoint, hasNewUrl, isNarrowed: narrowed.length > 0 };
}

/** Removes its waiting deliveries. Does nothing for a disabled endpoint. @throws DomainError `webhook_not_found` */
export async function disableEndpoint(db: Db, { principal, now }: Act, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    if ((await tx.run(disable, [id, now, ''])) === 0) return assertExists(tx, id);
    await removeQueueTx(tx, queueOf(id));
    await recordEventTx(tx, { at: now, principal, action: 'webhook.disabled', target: id });
  });
}

/** As {@link disableEndpoint}, after a response of its URL. @returns false if it has another URL, is disabled or was deleted */
export const disableGoneEndpoint = (db: Db, { id, url }: Tried, now: number, reason: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    if ((await tx.run(disable, [id, now, url])) === 0) return false;
    await removeQueueTx(tx, queueOf(id));
    await recordEventTx(tx, {
      at: now,
      principal: system,
      action: 'webhook.disabled',
      target: id,
      details: { reason },
    });
    return true;
  });

/**
 * The endpoint receives events from now on. Does nothing for an enabled endpoint.
 * @throws DomainError `webhook_not_found`
 */
export async function enableEndpoint(db: Db, principal: Principal, id: string, now: number): Promise<void> {
  await db.transaction(async (tx) => {
    await assertSessionValidTx(tx, { principal, now });
    const { enabled } = await lockAndCount(tx);
    if ((await tx.run(enable, [id, now])) === 0) return assertExists(tx, id);
    if (enabled === 0) await tx.run(skipToNow);
    await recordEventTx(tx, { at: now, principal, action: 'webhook.enabled', target: id });
  });
}

/** Removes its waiting deliveries too. @throws DomainError `webhook_not_found` */
export async function deleteEndpointTx(tx: Transaction, { principal, now }: Act, id: string): Promise<void> {
  await assertSessionValidTx(tx, { principal, now });
  if ((await tx.run(remove, [id])) === 0) throw new DomainError('webhook_not_found');
  await removeQueueTx(tx, queueOf(id));
  await recordEventTx(tx, { at: now, principal, action: 'webhook.deleted', target: id });
}

/** For a replay of the deletion journal, which records the events. Also drops the deliveries in the outbox. */
export async function disableEndpointsTx(tx: Transaction, ids: readonly string[], now: number): Promise<void> {
  for (const id of ids) {
    await tx.run(disable, [id, now, '']);
    await removeQueueTx(tx, queueOf(id));
  }
}

/** As {@link disableEndpointsTx}. */
export async function deleteEndpointsTx(tx: Transaction, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await tx.run(remove, [id]);
    await removeQueueTx(tx, queueOf(id));
  }
}

async function lockAndCount(tx: Transaction): Promise<{ all: number; enabled: number }> {
  await tx.all(lockEndpoints);
  return (await tx.get(countEndpoints)) ?? { all: 0, enabled: 0 };
}

async function assertExists(tx: Transaction, id: string): Promise<void> {
  if (!(await tx.get(select, [id]))) throw new DomainError('webhook_not_found');
}

/** @throws DomainError `webhook_not_found`, `webhook_disabled` */
export async function assertEnabledTx(tx: Transaction, id: string): Promise<void> {
  const endpoint = await tx.get(select, [id]);
  if (!endpoint) throw new DomainError('webhook_not_found');
  if (endpoint.disabledAt !== null) throw new DomainError('webhook_disabled');
}

type Tried = Pick<EndpointRow, 'id' | 'url'>;

export const recordDelivery = async (db: Db, { id, url }: Tried, now: number): Promise<void> =>
  void (await db.transaction((tx) => tx.run(updateDelivered, [id, url, now])));

export const recordFailure = async (db: Db, { id, url }: Tried, now: number, failure: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(updateFailed, [id, url, now, failure])));

/** @returns unpublished events in the order of chains and positions, at most `perChainMax` of each chain */
export const listUnpublished = (db: Db, perChainMax: number): Promise<UnpublishedEvent[]> =>
  db.all(selectUnpublished, [perChainMax]);

export const listEnabledEndpoints = (db: Db): Promise<Pick<EndpointRow, 'id' | 'events'>[]> => db.all(listSubscribed);

/** The progress of one chain, with the jobs that deliver its events. */
export interface Step {
  readonly chain: number;
  readonly from: number;
  readonly to: number;
  /** Of the event at `to`. */
  readonly mac: Uint8Array;
  readonly jobs: readonly NewJobRow[];
}

/**
 * Inserts the jobs, unless another instance did or a restore has replaced the events.
 * @param steps in the order of chains
 */
export async function publishSteps(db: Db, steps: readonly Step[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { chain, from, to, mac, jobs } of steps) {
      if ((await tx.run(advance, [chain, from, to, mac])) === 0) continue;
      for (const row of jobs) await insertJobTx(tx, row);
    }
  });
}
