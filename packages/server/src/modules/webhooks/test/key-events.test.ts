/** Events of changes, rotations, expiries and quotas of API keys, from their cause to the delivery. */
import assert from 'node:assert/strict';
import { Webhook as Verifier } from 'standardwebhooks';
import { limits, type CreatedKey, type CreatedWebhook, type RotatedKey } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertWebhookMessage } from '../../../../test-kit/declared-answers.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { newReceiver, type Received, type Receiver } from '../../../../test-kit/webhook-receiver.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';

const environment = { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' };

test('a key that is disabled, enabled and rotated is published without its restrictions and its secret', async () => {
  await using receiver = await newReceiver();
  // The receiver checks the timestamp, so the clock starts at the current time.
  await using app = await newApp({ environment, clock: new FakeClock(Date.now()) });
  const events = ['api_key.disabled', 'api_key.enabled', 'api_key.rotated', 'api_key.previous_ended'];
  const secret = await newSubscription(app, receiver, events);
  const user = await app.signIn();
  const headers = bearer(user.accessToken);
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'laptop' } });
  const { id: keyId, key: first } = created.json as CreatedKey;
  const path = `/auth/api-keys/${keyId}`;
  const restriction = { addresses: ['203.0.113.0/24'], metadata: { customer: 'cus_182' }, disabled: true };
  await app.call('PATCH', path, { headers, json: restriction });
  await app.call('PATCH', path, { headers, json: { disabled: false } });
  const rotated = await app.call('POST', `${path}/rotate`, { headers, json: { overlapSeconds: 60 } });
  const { key: second } = rotated.json as RotatedKey;
  await app.call('DELETE', `${path}/previous`, { headers });
  const received = await receiver.until(events.length);
  const accountId = user.account.id;
  const messages = received.map((one) => openMessage(one, secret));
  assert.deepEqual(Object.fromEntries(messages.map(({ type, data }) => [type, data])), {
    'api_key.disabled': { accountId, keyId, nickname: 'laptop', reason: 'owner' },
    'api_key.enabled': { accountId, keyId, nickname: 'laptop' },
    'api_key.rotated': { accountId, keyId, nickname: 'laptop', overlapSeconds: 60 },
    'api_key.previous_ended': { accountId, keyId, nickname: 'laptop' },
  });
  for (const { body } of received)
    for (const never of ['203.0.113', 'cus_182', first, second]) assert.equal(body.includes(never), false);
});

test('a key that expires soon is published with its expiry', async () => {
  await using receiver = await newReceiver();
  const days = limits.firstExpiryNoticeDays;
  // Shorter lifetimes get no notice, so the key is created before the current time, at which the notice is sent.
  const clock = new FakeClock(Date.now() - dayMs);
  await using app = await newApp({ environment, clock });
  const secret = await newSubscription(app, receiver, ['api_key.expiring']);
  const { accounts, apiKeys, expiryNotices } = app.service.services;
  const { id: accountId } = await accounts.create(operator, 'ada@example.com', new Secret(goodPassword), 'user');
  const expiresAt = clock.now() + (1 + days) * dayMs;
  const { id: keyId } = await apiKeys.create(operator, accountId, { nickname: 'laptop', scopes: [], expiresAt });
  clock.advance({ days: 1 });
  await expiryNotices.send();
  const received = await receiver.until(1);
  const data = { accountId, keyId, nickname: 'laptop', expiresAt: new Date(expiresAt).toISOString() };
  assert.deepEqual(
    received.map((one) => openMessage(one, secret)).map(({ type, data: sent }) => [type, sent]),
    [['api_key.expiring', data]],
  );
});

test('used-up quotas of a key and of its account are published', async () => {
  await using receiver = await newReceiver();
  await using app = await newApp({ environment, clock: new FakeClock(Date.now()) });
  const secret = await newSubscription(app, receiver, ['api_key.quota_reached', 'account.quota_reached']);
  const { administration, apiKeys, quotaNotices, verifier } = app.service.services;
  const { account } = await app.signIn();
  const quota = { limit: 2, per: 'ever' } as const;
  await administration.setLimits(operator, account.id, { quota });
  const request = { nickname: 'laptop', limits: { quota: { ...quota, limit: 1 } } };
  const { id: keyId, secret: limited } = await apiKeys.create(operator, account.id, request);
  const { secret: other } = await apiKeys.create(operator, account.id, { nickname: 'other' });
  for (const key of [limited, other, other]) await verifier.verify(key.reveal());
  await quotaNotices.flush();
  const messages = (await receiver.until(2)).map((one) => openMessage(one, secret));
  const accountId = account.id;
  assert.deepEqual(Object.fromEntries(messages.map(({ type, data }) => [type, data])), {
    'api_key.quota_reached': { accountId, keyId, nickname: 'laptop', limit: 1, per: 'ever', period: 'ever' },
    'account.quota_reached': { accountId, limit: 2, per: 'ever', period: 'ever' },
  });
});

/** An administrator subscribes the receiver. @returns the secret of the signatures */
async function newSubscription(app: TestApp, receiver: Receiver, events: readonly string[]): Promise<string> {
  const headers = bearer((await newAdministrator(app)).accessToken);
  const endpoint = await app.call('POST', '/admin/webhooks', { headers, json: { url: receiver.url, events } });
  return (endpoint.json as CreatedWebhook).secret;
}

/** @throws Error if the signature or the message is not valid */
function openMessage({ headers, body }: Received, secret: string): { readonly type: string; readonly data: unknown } {
  const message = new Verifier(secret).verify(body, headers as Record<string, string>) as ReturnType<
    typeof openMessage
  >;
  assertWebhookMessage(message);
  return message;
}
