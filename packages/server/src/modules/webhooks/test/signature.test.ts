/** Signatures, verified with the library that receivers use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { makeSigningSecret, signedHeaders } from '../signature.ts';

const body = '{"type":"account.created","data":{"nickname":"Ünïcode 👩‍🚀"}}';
const id = 'msg_0000000000000000000000';

test('the public library accepts a message that is signed with its secret, and rejects a changed one', () => {
  const secret = makeSigningSecret();
  const now = Date.now();
  const headers = signedHeaders(id, now, body, [secret]);
  const webhook = new Webhook(secret.reveal());
  assert.deepEqual(webhook.verify(body, headers), JSON.parse(body));
  const touched: readonly (readonly [string, Record<string, string>])[] = [
    [body.replace('created', 'deleted'), { ...headers }],
    [body, { ...headers, 'webhook-id': 'msg_1' }],
    [body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }],
  ];
  for (const [text, sent] of touched) assert.throws(() => webhook.verify(text, sent), /No matching signature/);
  assert.throws(() => new Webhook(makeSigningSecret().reveal()).verify(body, headers), /No matching signature/);
  const old = signedHeaders(id, now - 6 * 60_000, body, [secret]);
  assert.throws(() => webhook.verify(body, old), /too old/);
});

test('receivers with the old or the new secret accept messages during a replacement', () => {
  const [current, previous] = [makeSigningSecret(), makeSigningSecret()];
  const headers = signedHeaders(id, Date.now(), body, [current, previous]);
  for (const secret of [current, previous]) assert.ok(new Webhook(secret.reveal()).verify(body, headers));
  assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
});

test('the signature equals that of the specification’s example', () => {
  // https://github.com/standard-webhooks/standard-webhooks, its libraries' common test vector
  const headers = signedHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, '{"test": 2432232314}', [
    new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  ]);
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a secret has 256 random bits, as the specification allows, and is never printed', () => {
  const secret = makeSigningSecret();
  assert.match(secret.reveal(), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret.reveal(), makeSigningSecret().reveal());
  assert.equal(String(secret), '[redacted]');
});
