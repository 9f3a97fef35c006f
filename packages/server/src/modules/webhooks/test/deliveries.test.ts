/** The log of webhook deliveries, and replays. */
import assert from 'node:assert/strict';
import {
  limits,
  type CreatedWebhook,
  type ReplayedDeliveries,
  type Webhook,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
  type WebhookDeliveryPage,
} from '@keyreeve/contract';
import { monotonicMs } from '../../../foundation/clock.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { newReceiver, type Receiver } from '../../../../test-kit/webhook-receiver.ts';
import { DeliveryLog } from '../delivery-log.ts';
import {
  countDeliveries,
  deleteExcessDeliveries,
  listDeliveries,
  newestDelivery,
  saveTriedDeliveries,
  type TriedDelivery,
} from '../delivery-store.ts';

const environment = { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' };

class Stage {
  readonly app: TestApp;
  readonly admin: SignedIn;
  readonly id: string;

  constructor(app: TestApp, admin: SignedIn, id: string) {
    this.app = app;
    this.admin = admin;
    this.id = id;
  }

  call(method: string, path: string, json?: object) {
    return administer(this.app, this.admin, method, `webhooks/${this.id}${path}`, json);
  }

  async page(query = ''): Promise<WebhookDeliveryPage> {
    await this.app.service.services.webhooks.log.flush();
    const answer = await this.call('GET', `/deliveries${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as WebhookDeliveryPage;
  }

  /** Waits until the only delivery has this state. */
  async only(state: WebhookDelivery['state'], attemptCount: number): Promise<WebhookDelivery> {
    let found: WebhookDelivery | undefined;
    await until(`${attemptCount} attempts, then ${state}`, async () => {
      const { deliveries } = await this.page();
      [found] = deliveries;
      // The log can have the attempt before the outbox has the time of the next one.
      const isQueued = found?.nextAttemptAt !== found?.attempts.at(-1)?.at;
      return deliveries.length === 1 && found?.state === state && found.attemptCount === attemptCount && isQueued;
    });
    assert.ok(found);
    return found;
  }
}

/** Receivers check the timestamp, so the test's clock starts at the current time. */
async function start(receiver: Receiver): Promise<[TestApp, Stage]> {
  const app = await newApp({ environment, clock: new FakeClock(Date.now()) });
  const admin = await newAdministrator(app);
  const json = { url: receiver.url, events: ['scope.set'] };
  const { id } = (await administer(app, admin, 'POST', 'webhooks', json)).json as CreatedWebhook;
  return [app, new Stage(app, admin, id)];
}

/** Causes one event. */
const change = (app: TestApp) =>
  app.service.services.scopeCatalogue.set(operator, 'reports', { description: '', entitled: false });

const respond = (receiver: Receiver, status: number): void => {
  receiver.answer = (_, response) => void response.writeHead(status).end('a secret');
};
const withoutMs = (delivery: WebhookDelivery) => ({
  ...delivery,
  attempts: delivery.attempts.map(({ ms, ...attempt }) => {
    assert.ok(Number.isInteger(ms) && ms >= 0 && ms <= Math.ceil(monotonicMs()), String(ms));
    return attempt;
  }),
});

test('the log has each attempt, and a replay sends the event again with the same id and content', async () => {
  await using receiver = await newReceiver();
  respond(receiver, 500);
  const [app, stage] = await start(receiver);
  await using _ = app;
  const at = new Date(app.clock.now()).toISOString();
  await change(app);
  const waiting = await stage.only('waiting', 1);
  assert.equal(waiting.id, receiver.received[0]?.headers['webhook-id']);
  const failed = { at, status: 500, error: 'it answered 500' };
  const shown = { id: waiting.id, event: 'scope.set', accountId: null, at, attemptCount: 1, attempts: [failed] };
  const nextAttemptAt = new Date(app.clock.now() + 5_000).toISOString();
  assert.deepEqual(withoutMs(waiting), { ...shown, state: 'waiting', nextAttemptAt });
  const endpoint = (await stage.call('GET', '')).json as Webhook;
  assert.deepEqual([endpoint.failingSince, endpoint.nextAttemptAt], [at, nextAttemptAt]);
  // A waiting delivery is not queued twice.
  assert.equal((await stage.call('POST', `/deliveries/${waiting.id}/replay`)).status, 204);
  respond(receiver, 204);
  app.clock.advance({ seconds: 5 });
  const delivered = await stage.only('delivered', 2);
  const success = { at: new Date(app.clock.now()).toISOString(), status: 204, error: null };
  assert.deepEqual(withoutMs(delivered), {
    ...shown,
    state: 'delivered',
    nextAttemptAt: null,
    attemptCount: 2,
    attempts: [failed, success],
  });
  const recovered = (await stage.call('GET', '')).json as Webhook;
  assert.deepEqual([recovered.failingSince, recovered.nextAttemptAt], [null, null]);
  assert.equal((await stage.call('POST', `/deliveries/${waiting.id}/replay`)).status, 204);
  await stage.only('delivered', 3);
  assert.equal(receiver.received.length, 3);
  assert.equal(
    new Set(receiver.received.map(({ body, headers }) => `${String(headers['webhook-id'])} ${body}`)).size,
    1,
  );
  const recorded = (await listAuditEvents(app.db)).filter(({ action }) => action === 'webhook.replayed');
  const event = {
    actor: `account:${stage.admin.account.id}`,
    target: stage.id,
    details: JSON.stringify({ delivery: waiting.id }),
  };
  assert.deepEqual(
    recorded.map(({ actor, target, details }) => ({ actor, target, details })),
    [event, event],
  );
});

const alterMac = sql('test_alter_event', `update audit_events set mac = $1 where action = 'scope.set'`);

const textOf = async (app: TestApp, table: string): Promise<string> =>
  JSON.stringify(await app.db.all(sql(`test_all_of_${table}`, `select * from ${table}`)));

test('a delivery shows the payload that was sent, and nothing of the response but its status', async () => {
  await using receiver = await newReceiver();
  const marker = 'text of an internal page';
  receiver.answer = (_, response) =>
    void response.writeHead(500, 'reason of an internal page', { 'x-internal': marker }).end(marker);
  const [app, stage] = await start(receiver);
  await using _ = app;
  await change(app);
  const waiting = await stage.only('waiting', 1);
  const read = () => stage.call('GET', `/deliveries/${waiting.id}`);
  const answer = await read();
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, { delivery: waiting, payload: receiver.received[0]?.body });
  await stage.call('POST', '/test');
  const stored = ['webhook_endpoints', 'webhook_deliveries', 'outbox', 'audit_events'].map((name) => textOf(app, name));
  const shown = ['', '/deliveries', `/deliveries/${waiting.id}`].map(
    async (path) => (await stage.call('GET', path)).text,
  );
  const outbox = administer(app, stage.admin, 'GET', 'outbox');
  const texts = [...(await Promise.all([...stored, ...shown])), (await outbox).text, app.logLines.join('')];
  assert.ok(texts.every((text) => !text.includes('internal page')));
  // After a restore, another event can be at the same place.
  await app.db.transaction((tx) => tx.run(alterMac, [Buffer.from('another')]));
  assert.equal(((await read()).json as WebhookDeliveryDetails).payload, null);
  for (const [path, code] of [
    [`${stage.id}/deliveries/msg_0`, 'webhook_delivery_not_found'],
    [`whe_0/deliveries/${waiting.id}`, 'webhook_not_found'],
  ] as const)
    assertProblem(fromFetch(await administer(app, stage.admin, 'GET', `webhooks/${path}`)), code, path);
});

testOnBoth('a list names the account of each event, and has a total of all pages on request', async () => {
  await using receiver = await newReceiver();
  const [app, stage] = await start(receiver);
  await using _ = app;
  await stage.call('PATCH', '', { events: ['account.disabled', 'scope.set'] });
  const accounts: string[] = [];
  for (const email of ['ada@example.com', 'eve@example.com']) {
    const { id } = await app.createAccount(email);
    await administer(app, stage.admin, 'POST', `accounts/${id}/disable`);
    accounts.push(id);
  }
  await change(app);
  await until('three deliveries', async () => (await stage.page()).deliveries.length === 3);
  const { deliveries, nextCursor } = await stage.page();
  assert.deepEqual(
    new Set(deliveries.map(({ event, accountId }) => `${event} ${accountId}`)),
    new Set(['scope.set null', ...accounts.map((id) => `account.disabled ${id}`)]),
  );
  assert.equal(nextCursor, null);
  const total = async (query: string) => (await stage.page(`?total=true${query}`)).total;
  assert.deepEqual(await total('&limit=1'), { count: 3, isExact: true });
  assert.deepEqual(await total('&state=failed'), { count: 0, isExact: true });
  const first = await stage.page('?limit=1');
  assert.equal('total' in first, false);
  const later = await stage.call('GET', `/deliveries?total=true&cursor=${first.nextCursor}`);
  assertProblem(fromFetch(later), 'invalid_request');
});

test('deliveries that were given up are replayed from a time on', async () => {
  await using receiver = await newReceiver();
  respond(receiver, 500);
  const [app, stage] = await start(receiver);
  await using _ = app;
  await change(app);
  await stage.only('waiting', 1);
  app.clock.advance({ seconds: limits.outboxKeptDays * 86_400 + 1 });
  // The other session has ended.
  const late = new Stage(app, await newAdministrator(app), stage.id);
  await late.only('failed', 2);
  const failedAt = app.clock.now();
  const replay = async (since: number): Promise<ReplayedDeliveries> =>
    (await late.call('POST', '/replay-failed', { since: new Date(since).toISOString() })).json as ReplayedDeliveries;
  const none = { replayed: 0, skipped: 0, hasMore: false };
  assert.deepEqual(await replay(failedAt + 1), none);
  assert.deepEqual((await late.page('?state=failed')).deliveries.length, 1);
  respond(receiver, 204);
  assert.deepEqual(await replay(failedAt), { ...none, replayed: 1 });
  await late.only('delivered', 3);
  assert.deepEqual(await replay(failedAt), none);
  assert.deepEqual((await late.page('?state=failed')).deliveries, []);
  const recorded = (await listAuditEvents(app.db)).filter(({ action }) => action === 'webhook.replayed');
  assert.deepEqual(
    recorded.map(({ details }) => details),
    [JSON.stringify({ since: new Date(failedAt).toISOString(), deliveries: 1 })],
  );
});

test('a replay is rejected without a delivery, without its event, and for a disabled endpoint', async () => {
  await using receiver = await newReceiver();
  const [app, stage] = await start(receiver);
  await using _ = app;
  await change(app);
  const { id } = await stage.only('delivered', 1);
  const { log } = app.service.services.webhooks;
  const unknownEvent = { endpointId: stage.id, type: 'account.created', eventAt: now, chain: 0, position: 1_000_000 };
  log.record({ ...unknownEvent, id: 'msg_0earlier' }, [now, 500, 1, 'it answered 500']);
  await log.flush();
  const since = { since: '2026-01-01T00:00:00Z' };
  const other = (
    await administer(app, stage.admin, 'POST', 'webhooks', { url: receiver.url, events: ['scope.deleted'] })
  ).json as CreatedWebhook;
  for (const [path, json, code] of [
    ['whe_0/deliveries/msg_0/replay', undefined, 'webhook_not_found'],
    ['whe_0/replay-failed', since, 'webhook_not_found'],
    [`${stage.id}/deliveries/msg_0/replay`, undefined, 'webhook_delivery_not_found'],
    [`${other.id}/deliveries/${id}/replay`, undefined, 'webhook_delivery_not_found'],
    [`${stage.id}/deliveries/msg_0earlier/replay`, undefined, 'webhook_event_missing'],
    [`${stage.id}/replay-failed`, { since: 'yesterday' }, 'invalid_request'],
    [`${stage.id}/replay-failed`, { since: '2026-11-20T23:59:60Z' }, 'invalid_request'],
    [`${stage.id}/replay-failed`, {}, 'invalid_request'],
  ] as const)
    assertProblem(fromFetch(await administer(app, stage.admin, 'POST', `webhooks/${path}`, json)), code, path);
  for (const query of ['?cursor=x', '?cursor=MQ', '?limit=0', '?limit=101', '?state=lost', '?other=1'])
    assertProblem(fromFetch(await stage.call('GET', `/deliveries${query}`)), 'invalid_request', query);
  assertProblem(fromFetch(await administer(app, stage.admin, 'GET', 'webhooks/whe_0/deliveries')), 'webhook_not_found');
  const skipped = await stage.call('POST', '/replay-failed', since);
  assert.deepEqual(skipped.json, { replayed: 0, skipped: 1, hasMore: false });
  // After a restore, another event can be at the same place.
  await app.db.transaction((tx) => tx.run(alterMac, [Buffer.from('another')]));
  assertProblem(fromFetch(await stage.call('POST', `/deliveries/${id}/replay`)), 'webhook_event_missing');
  await stage.call('POST', '/disable');
  assertProblem(fromFetch(await stage.call('POST', `/deliveries/${id}/replay`)), 'webhook_disabled');
  assertProblem(fromFetch(await stage.call('POST', '/replay-failed', since)), 'webhook_disabled');
  assert.equal(receiver.received.length, 1);
  assert.ok(!(await listAuditEvents(app.db)).some(({ action }) => action === 'webhook.replayed'));
});

const tried = (id: string, at: number, more: Partial<TriedDelivery> = {}): TriedDelivery => ({
  id: `msg_${id}`,
  endpointId: 'whe_one',
  type: 'account.created',
  eventAt: now,
  chain: 1,
  position: 1,
  attempts: [[at, 204, 3, null]],
  ...more,
});
const inLog = async (db: Parameters<typeof listDeliveries>[0], endpointId = 'whe_one'): Promise<string[]> =>
  (await listDeliveries(db, { endpointId }, newestDelivery, 100)).map(({ id }) => id);

onEachDatabase('pages have each delivery once, also those that began at the same time', async ({ db }) => {
  const ids = Array.from({ length: 7 }, (_, index) => String(index));
  await saveTriedDeliveries(
    db,
    ids.map((id) => tried(id, now + Math.floor(Number(id) / 3))),
    20,
  );
  const expected = ids.map((id) => `msg_${id}`).toReversed();
  assert.deepEqual(await inLog(db), expected);
  const seen: string[] = [];
  let last = newestDelivery;
  for (;;) {
    const page = await listDeliveries(db, { endpointId: 'whe_one', state: 'delivered' }, last, 2);
    seen.push(...page.map(({ id }) => id));
    last = page.at(-1) ?? last;
    if (page.length < 2) break;
  }
  assert.deepEqual(seen, expected);
  assert.deepEqual(await inLog(db, 'whe_other'), []);
  const ofOne = { endpointId: 'whe_one' };
  const first = await countDeliveries(db, ofOne, newestDelivery, 4);
  assert.deepEqual([first.matching, { ...first.last }], [4, { startedAt: now + 1, id: 'msg_3' }]);
  assert.deepEqual(await countDeliveries(db, ofOne, first.last!, 4), { matching: 3, last: undefined });
  assert.equal((await countDeliveries(db, { ...ofOne, state: 'failed' }, newestDelivery, 9)).matching, 0);
});

onEachDatabase('of many attempts the last ones are kept, and all are counted', async ({ db }) => {
  for (let attempt = 0; attempt < 5; attempt++)
    await saveTriedDeliveries(db, [tried('one', now + attempt, { attempts: [[now + attempt, 500, 1, 'no']] })], 3);
  const [row] = await listDeliveries(db, { endpointId: 'whe_one' }, newestDelivery, 2);
  assert.deepEqual([row?.attemptCount, row?.startedAt, row?.state], [5, now, 'failed']);
  const kept = [2, 3, 4].map((attempt) => [now + attempt, 500, 1, 'no']);
  assert.deepEqual(JSON.parse(row?.attempts ?? ''), kept);
});

onEachDatabase('deliveries are deleted after seven days, and beyond the bound of an endpoint', async ({ db }) => {
  const clock = new FakeClock(now);
  const log = new DeliveryLog({ db, clock });
  const week = limits.webhookDeliveryDays * 86_400_000;
  await saveTriedDeliveries(
    db,
    [
      tried('old', now - week - 1),
      tried('kept', now - week),
      tried('new', now),
      tried('other', now, { endpointId: 'whe_two' }),
    ],
    20,
  );
  await log.deleteOld();
  assert.deepEqual(await inLog(db), ['msg_new', 'msg_kept']);
  assert.equal(await deleteExcessDeliveries(db, 'whe_one', 1, 10), 1);
  assert.deepEqual([await inLog(db), await inLog(db, 'whe_two')], [['msg_new'], ['msg_other']]);
});

onEachDatabase('attempts that cannot be written wait for the next write, in order', async ({ db }) => {
  const failures: unknown[] = [];
  let isDown = true;
  const flaky: typeof db = Object.create(db, {
    transaction: {
      value: (...rest: Parameters<typeof db.transaction>) =>
        isDown ? Promise.reject(new Error('down')) : db.transaction(...rest),
    },
  }) as typeof db;
  const log = new DeliveryLog({
    db: flaky,
    clock: new FakeClock(now),
    onFailure: (error) => void failures.push(error),
  });
  const { attempts: __, ...delivery } = tried('one', now);
  log.record(delivery, [now, 500, 1, 'no']);
  await log.flush();
  log.record(delivery, [now + 1, 204, 2, null]);
  await log.flush();
  assert.equal(failures.length, 1);
  isDown = false;
  await log.flush();
  const [row] = await listDeliveries(db, { endpointId: 'whe_one' }, newestDelivery, 2);
  assert.deepEqual(JSON.parse(row?.attempts ?? ''), [
    [now, 500, 1, 'no'],
    [now + 1, 204, 2, null],
  ]);
  await log.flush();
});
