/** Events of changes and rotations of API keys, from a request to the API to the delivery. */
import assert from 'node:assert/strict';
import { Webhook as Verifier } from 'standardwebhooks';
import type { CreatedKey, CreatedWebhook, RotatedKey } from '@keyreeve/contract';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertWebhookMessage } from '../../../../test-kit/declared-answers.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { newReceiver } from '../../../../test-kit/webhook-receiver.ts';

test('a key that is disabled, enabled and rotated is published without its restrictions and its secret', async () => {
  await using receiver = await newReceiver();
  // The receiver checks the timestamp, so the clock starts at the current time.
  const clock = new FakeClock(Date.now());
  await using app = await newApp({ environment: { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' }, clock });
  const admin = bearer((await newAdministrator(app)).accessToken);
  const events = ['api_key.disabled', 'api_key.enabled', 'api_key.rotated', 'api_key.previous_ended'];
  const json = { url: receiver.url, events };
  const endpoint = await app.call('POST', '/admin/webhooks', { headers: admin, json });
  const verifier = new Verifier((endpoint.json as CreatedWebhook).secret);
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
  const received = await receiver.until(events.length, 60_000);
  const accountId = user.account.id;
  const messages = received.map(({ headers: sent, body }) => {
    const message = verifier.verify(body, sent as Record<string, string>) as { type: string; data: unknown };
    assertWebhookMessage(message);
    return message;
  });
  assert.deepEqual(Object.fromEntries(messages.map(({ type, data }) => [type, data])), {
    'api_key.disabled': { accountId, keyId, nickname: 'laptop', reason: 'owner' },
    'api_key.enabled': { accountId, keyId, nickname: 'laptop' },
    'api_key.rotated': { accountId, keyId, nickname: 'laptop', overlapSeconds: 60 },
    'api_key.previous_ended': { accountId, keyId, nickname: 'laptop' },
  });
  for (const { body } of received)
    for (const never of ['203.0.113', 'cus_182', first, second]) assert.equal(body.includes(never), false);
});
