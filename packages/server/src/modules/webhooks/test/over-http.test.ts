/** Webhooks in a running service: from a request to the API to the delivery. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Webhook as Verifier } from 'standardwebhooks';
import { limits, type RotatedWebhookSecret, type WebhookTest } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { assertWebhookMessage } from '../../../../test-kit/declared-answers.ts';
import { bearer, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newPlace, type DatabasePlace } from '../../../../test-kit/new-db.ts';
import { newReceiver, type Received } from '../../../../test-kit/webhook-receiver.ts';
import { until } from '../../../../test-kit/until.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { create, read } from './endpoint-requests.ts';

const loopback = { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' };

/** Receivers check the timestamp, so the test's clock starts at the current time. */
const start = (place?: DatabasePlace, clock = new FakeClock(Date.now())): Promise<TestApp> =>
  newApp({ environment: loopback, clock, ...(place ? { place } : {}) });

interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}
/** Verifies a request as a receiver does. @throws Error for an invalid signature */
function verified({ headers, body }: Received, secret: string): Message {
  const message = new Verifier(secret).verify(body, headers as Record<string, string>) as Message;
  assertWebhookMessage(message);
  return message;
}
const ids = (received: readonly Received[]): unknown[] => received.map(({ headers }) => headers['webhook-id']);

test('an event of the API is delivered to a receiver, signed and with ids only', async () => {
  await using receiver = await newReceiver();
  await using app = await start();
  const admin = await newAdministrator(app);
  const events = ['account.created', 'account.disabled', 'account.deleted', 'api_key.created', 'api_key.deleted'];
  const { secret } = await create(app, admin, receiver.url, ...events, 'session.ended');
  const user = await app.signIn('ada.lovelace@example.com');
  const headers = bearer(user.accessToken);
  const key = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'laptop' } });
  const { id: keyId, key: text } = key.json as { id: number; key: string };
  await app.call('DELETE', `/auth/api-keys/${keyId}`, { headers });
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: user.refreshToken } });
  const received = await receiver.until(4);
  const accountId = user.account.id;
  const messages = received.map((request) => verified(request, secret));
  const byType = Object.fromEntries(messages.map(({ type, data }) => [type, data]));
  const sessionId = byType['session.ended']?.['sessionId'];
  assert.match(String(sessionId), /^ses_\w+$/);
  assert.deepEqual(byType, {
    'account.created': { accountId },
    'api_key.created': { accountId, keyId, nickname: 'laptop', createdBy: 'account' },
    'api_key.deleted': { accountId, keyId, nickname: 'laptop' },
    'session.ended': { accountId, sessionId },
  });
  for (const [index, { headers: sent, body }] of received.entries()) {
    assert.deepEqual([sent['webhook-id'], sent['content-type']], [messages[index]?.id, 'application/json']);
    assert.equal(messages[index]?.timestamp, new Date(app.clock.now()).toISOString());
    for (const never of ['lovelace', text, user.refreshToken, goodPassword]) assert.equal(body.includes(never), false);
  }
});

const selectPutOff = sql<{ dueAt: number }>(
  'test_put_off',
  `select due_at as "dueAt" from outbox where attempts > 0 and claimed_until = 0`,
);

test('a failed delivery is repeated with the same id until it succeeds, and its failure is shown', async () => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) =>
    void response.writeHead([2, 3].includes(receiver.received.length) ? 500 : 204).end('a secret');
  await using app = await start();
  const admin = await newAdministrator(app);
  const { id, secret } = await create(app, admin, receiver.url);
  await app.createAccount();
  await until('one was delivered', async () => (await read(app, admin, id)).lastDeliveredAt !== null);
  await app.createAccount();
  for (let failures = 1; failures <= 2; failures++) {
    await receiver.until(1 + failures);
    await until('it is put off', async () => ((await app.db.get(selectPutOff))?.dueAt ?? 0) > app.clock.now());
    assert.equal((await read(app, admin, id)).lastFailure, 'it answered 500');
    const { dueAt } = (await app.db.get(selectPutOff)) ?? { dueAt: 0 };
    app.clock.advance({ seconds: (dueAt - app.clock.now()) / 1000 });
  }
  await until('no delivery is waiting', async () => (await read(app, admin, id)).waiting === 0);
  assert.equal(receiver.received.length, 4);
  const repeated = receiver.received.slice(1);
  assert.equal(new Set(ids(repeated)).size, 1);
  assert.equal(new Set(repeated.map(({ body }) => body)).size, 1);
  assert.equal(new Set(repeated.map(({ headers }) => headers['webhook-timestamp'])).size, 3);
  for (const request of receiver.received) verified(request, secret);
  // A success after a failure is recorded, although the last recorded one is less than a minute old.
  const { lastDeliveredAt, lastFailedAt } = await read(app, admin, id);
  assert.ok(lastDeliveredAt !== null && lastFailedAt !== null && lastDeliveredAt > lastFailedAt);
  // The response's body is not logged.
  assert.equal(app.logLines.join('').includes('a secret'), false);
});

test('a delivery that was waiting when the service stopped is made after a restart, with the same id', async () => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) => void response.writeHead(503).end();
  await using place = await newPlace();
  const clock = new FakeClock(Date.now());
  let secret: string;
  let accountId: string;
  {
    await using app = await start(place, clock);
    const admin = await newAdministrator(app);
    ({ secret } = await create(app, admin, receiver.url));
    accountId = (await app.createAccount()).id;
    await receiver.until(1);
  }
  receiver.answer = (_, response) => void response.writeHead(204).end();
  clock.advance({ seconds: 121 });
  await using next = await start(place, clock);
  const [first, second] = await receiver.until(2);
  assert.ok(first && second);
  assert.deepEqual(verified(second, secret).data, { accountId });
  assert.equal(first.headers['webhook-id'], second.headers['webhook-id']);
  const { counts } = next.service.services.webhooks.sender;
  await until('the delivery is counted', () => counts.delivered === 1);
});

testOnBoth('two instances deliver each event once', async () => {
  await using receiver = await newReceiver();
  await using place = await newPlace();
  const clock = new FakeClock(Date.now());
  await using one = await start(place, clock);
  await using two = await start(place, clock);
  const admin = await newAdministrator(one);
  const { id } = await create(one, admin, receiver.url);
  const count = 24;
  for (let index = 0; index < count; index++)
    await (index % 2 === 0 ? one : two).createAccount(`u${index}@example.com`);
  await receiver.until(count);
  await until('no delivery is waiting', async () => (await read(one, admin, id)).waiting === 0);
  assert.equal(new Set(ids(receiver.received)).size, count);
  assert.equal(receiver.received.length, count);
});

test('an endpoint that never responds delays no other', async () => {
  await using silent = await newReceiver();
  silent.answer = () => undefined;
  await using receiver = await newReceiver();
  await using app = await start();
  const admin = await newAdministrator(app);
  const hanging = await create(app, admin, silent.url);
  await create(app, admin, receiver.url);
  const count = 12;
  for (let index = 0; index < count; index++) await app.createAccount();
  await receiver.until(count);
  assert.equal((await read(app, admin, hanging.id)).waiting, count);
  // A few immediately, and no retry before its time.
  assert.ok(silent.received.length <= 4, String(silent.received.length));
});

test('an endpoint that returns 410 is disabled', async () => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) => void response.writeHead(410).end();
  await using app = await start();
  const admin = await newAdministrator(app);
  const { id } = await create(app, admin, receiver.url);
  await app.createAccount();
  await until('the endpoint is disabled', async () => (await read(app, admin, id)).disabledAt !== null);
  assert.deepEqual((await read(app, admin, id)).waiting, 0);
  const recorded = (await listAuditEvents(app.db)).find(({ action }) => action === 'webhook.disabled');
  assert.deepEqual(
    [recorded?.actor, recorded?.target, recorded?.details],
    ['system', id, JSON.stringify({ reason: 'it answered 410' })],
  );
});

test('deliveries are signed with a new secret immediately, and with the previous one for a limited time', async () => {
  await using receiver = await newReceiver();
  await using app = await start();
  const admin = await newAdministrator(app);
  const headers = bearer(admin.accessToken);
  const { id, secret: old } = await create(app, admin, receiver.url);
  const answer = await app.call('POST', `/admin/webhooks/${id}/rotate-secret`, { headers });
  const { secret, previousValidUntil } = answer.json as RotatedWebhookSecret;
  assert.notEqual(secret, old);
  const overlapSeconds = limits.webhookSecretOverlapSeconds;
  assert.equal(Date.parse(previousValidUntil), app.clock.now() + overlapSeconds * 1000);
  await app.createAccount();
  const [during] = await receiver.until(1);
  assert.ok(during);
  assert.deepEqual(verified(during, secret), verified(during, old));
  app.clock.advance({ seconds: overlapSeconds });
  await app.createAccount();
  const [, after] = await receiver.until(2);
  assert.ok(after);
  // One signature, which is not of the old secret. The library would reject the timestamp too.
  assert.match(String(after.headers['webhook-signature']), /^v1,\S+$/);
  const stamp = Number(after.headers['webhook-timestamp']) * 1000;
  const signed = (key: string): string =>
    new Verifier(key).sign(String(after.headers['webhook-id']), new Date(stamp), after.body);
  assert.equal(after.headers['webhook-signature'], signed(secret));
  assert.notEqual(after.headers['webhook-signature'], signed(old));
});

test('a test returns its result, and nothing from the response', async () => {
  await using inside = await newReceiver();
  await using receiver = await newReceiver();
  await using app = await start();
  const admin = await newAdministrator(app);
  const headers = bearer(admin.accessToken);
  const { id, secret } = await create(app, admin, receiver.url);
  const attempt = async (): Promise<WebhookTest> =>
    (await app.call('POST', `/admin/webhooks/${id}/test`, { headers })).json as WebhookTest;
  assert.deepEqual(await attempt(), { delivered: true, status: 204, failure: null });
  const [request] = receiver.received;
  assert.ok(request);
  const { type, data } = verified(request, secret);
  assert.deepEqual([type, data], ['webhook.test', { endpointId: id }]);
  receiver.answer = (_, response) => void response.writeHead(302, { location: inside.url }).end('internal text');
  assert.deepEqual(await attempt(), { delivered: false, status: 302, failure: 'it answered 302' });
  assert.equal(inside.received.length, 0);
  await receiver[Symbol.asyncDispose]();
  assert.deepEqual(await attempt(), {
    delivered: false,
    status: null,
    failure: 'the connection failed: ECONNREFUSED',
  });
});

test('a name with an internal IP address is never connected to, and an internal IP address is rejected as an endpoint', async () => {
  await using inside = await newReceiver(createServer());
  await using app = await newApp();
  const admin = await newAdministrator(app);
  const headers = bearer(admin.accessToken);
  const json = { url: `http://127.0.0.1:${inside.port}/`, events: ['account.created'] };
  const refused = await app.call('POST', '/admin/webhooks', { headers, json });
  assertProblem(fromFetch(refused), 'webhook_url_refused');
  const { id } = await create(app, admin, 'https://localhost/');
  const answer = await app.call('POST', `/admin/webhooks/${id}/test`, { headers });
  assert.deepEqual(answer.json, {
    delivered: false,
    status: null,
    failure: 'it leads to an internal address',
  });
  assert.equal(app.service.services.webhooks.sender.counts.refused, 1);
  assert.equal(inside.received.length, 0);
});
