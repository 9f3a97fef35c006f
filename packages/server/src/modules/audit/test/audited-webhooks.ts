/** Changes of webhook endpoints and their events, for `audit.test.ts`. */
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { replayDelivery, saveTriedDeliveries, type ReplayRequest } from '../../webhooks/delivery-store.ts';
import * as webhooks from '../../webhooks/store.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';

const act = { principal: operator, now };
const newEndpoint = (id: string): webhooks.NewEndpoint => ({
  id,
  url: 'https://example.com/',
  secret: keys.webhookSeal.seal(id, '{}'),
  events: 'account.created session.ended',
  now,
});

const selectLastPlace = sql<{ chain: number; position: number }>(
  'test_last_place',
  'select chain, position from audit_events order by id desc limit 1',
);

/** Adds an enabled endpoint with a delivery, and a disabled one. */
export async function addEndpoints(db: Db): Promise<void> {
  for (const id of ['whe_on', 'whe_off'])
    await db.transaction((tx) => webhooks.createEndpointTx(tx, operator, newEndpoint(id), 2));
  await webhooks.disableEndpoint(db, act, 'whe_off');
  const { chain, position } = (await db.get(selectLastPlace)) ?? { chain: 0, position: 0 };
  const delivery = { id: 'msg_one', endpointId: 'whe_on', type: 'account.created', eventAt: now, chain, position };
  await saveTriedDeliveries(db, [{ ...delivery, attempts: [[now, 500, 1, 'it answered 500']] }], 20);
}

const replay = (endpointId: string): ReplayRequest => ({
  principal: operator,
  endpointId,
  now,
  makeJob: (_, id) => ({
    id,
    kind: 'webhook',
    queue: `webhook:${endpointId}`,
    payload: Buffer.from('sealed'),
    createdAt: now,
    dueAt: now,
  }),
});

const changed = { url: 'https://example.org/', events: 'account.created', secret: Buffer.from('another') };

const row = (action: string, target: string, details: object | null = null) => ({
  actor: 'operator',
  action,
  accountId: null,
  target,
  details: details === null ? null : JSON.stringify(details),
});

export const webhookOperations = {
  'webhook.created': {
    change: (db: Db) => db.transaction((tx) => webhooks.createEndpointTx(tx, operator, newEndpoint('whe_new'), 3)),
    rows: [row('webhook.created', 'whe_new', { events: ['account.created', 'session.ended'] })],
    refused: (db: Db) => db.transaction((tx) => webhooks.createEndpointTx(tx, operator, newEndpoint('whe_new'), 2)),
  },
  'webhook.updated': {
    change: (db: Db) => db.transaction((tx) => webhooks.changeEndpointTx(tx, act, { ...changed, id: 'whe_on' })),
    rows: [
      row('webhook.updated', 'whe_on', { hasNewUrl: true, events: ['account.created'], narrowed: ['url', 'events'] }),
    ],
    refused: (db: Db) => db.transaction((tx) => webhooks.changeEndpointTx(tx, act, { ...changed, id: 'whe_none' })),
  },
  'webhook.deleted': {
    change: (db: Db) => db.transaction((tx) => webhooks.deleteEndpointTx(tx, { principal: operator, now }, 'whe_on')),
    rows: [row('webhook.deleted', 'whe_on')],
    refused: (db: Db) =>
      db.transaction((tx) => webhooks.deleteEndpointTx(tx, { principal: operator, now }, 'whe_none')),
  },
  'webhook.disabled': {
    change: (db: Db) => webhooks.disableEndpoint(db, act, 'whe_on'),
    rows: [row('webhook.disabled', 'whe_on')],
    refused: (db: Db) => webhooks.disableEndpoint(db, act, 'whe_off'),
  },
  'webhook.enabled': {
    change: (db: Db) => webhooks.enableEndpoint(db, operator, 'whe_off', now),
    rows: [row('webhook.enabled', 'whe_off')],
    refused: (db: Db) => webhooks.enableEndpoint(db, operator, 'whe_on', now),
  },
  'webhook.secret_rotated': {
    change: (db: Db) =>
      db.transaction((tx) => webhooks.replaceSecretTx(tx, act, 'whe_on', () => Buffer.from('another'))),
    rows: [row('webhook.secret_rotated', 'whe_on')],
    refused: (db: Db) =>
      db.transaction((tx) => webhooks.replaceSecretTx(tx, act, 'whe_none', () => Buffer.from('another'))),
  },
  'webhook.replayed': {
    change: (db: Db) => replayDelivery(db, replay('whe_on'), 'msg_one'),
    rows: [row('webhook.replayed', 'whe_on', { delivery: 'msg_one' })],
    refused: (db: Db) => replayDelivery(db, replay('whe_off'), 'msg_one'),
  },
} as const;
