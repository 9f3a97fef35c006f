/** Keys of several environments: no key of a further environment is accepted unless a request or a setting accepts it. */
import assert from 'node:assert/strict';
import type { CreatedKey, KeyDetails, VerifyResult } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import {
  exchange,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
  newShortLived,
} from '../../../../test-kit/public-key-client.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { ConfigError } from '../../../app/configuration/config.ts';
import { liveAndTest, withEnvironments } from './environments-kit.ts';

const any = { ...liveAndTest, KEYREEVE_FORWARD_ENVIRONMENTS: 'any' };

test('a verification that names no environment accepts only keys of the first one', async () => {
  await using at = await withEnvironments(liveAndTest);
  const [live, inTest] = [await at.create('live'), await at.create('test', { environment: 'test' })];
  const created = (await listAuditEvents(at.app.db)).filter(({ action }) => action === 'api_key.created').slice(-2);
  assert.deepEqual(
    created.map(({ details }) => JSON.parse(details ?? '') as unknown),
    [
      { nickname: 'live', scopes: [] },
      { nickname: 'test', scopes: [], environment: 'test' },
    ],
  );
  assert.match(live.key, /^acme_live_/);
  assert.match(inTest.key, /^acme_test_/);
  assert.equal(await at.outcomeOf(live.key), 'valid live');
  assert.deepEqual(await at.verify(inTest.key), { valid: false, code: 'wrong_environment' });
  assert.equal(await at.outcomeOf(inTest.key, { environments: ['test'] }), 'valid test');
  assert.equal(await at.outcomeOf(live.key, { environments: ['test'] }), 'wrong_environment');
  assert.equal(await at.outcomeOf(live.key, { environments: ['test', 'live'] }), 'valid live');
  assert.deepEqual([await at.introspect(live.key), await at.introspect(inTest.key)], [true, false]);
  assert.deepEqual(await at.forward(live.key), [200, 'live']);
  assert.deepEqual(await at.forward(inTest.key), [403, null]);
  // An access token counts as the first environment.
  assert.equal(await at.outcomeOf(at.accessToken), 'valid live');
  assert.equal(await at.outcomeOf(at.accessToken, { environments: ['test'] }), 'wrong_environment');
  assert.deepEqual(await at.forward(at.accessToken), [200, 'live']);
  const json = { questions: [{ credential: inTest.key, environments: ['test'] }, { credential: inTest.key }] };
  const batch = await at.app.call('POST', '/auth/verify/batch', { headers: at.service, json });
  assert.deepEqual(
    (batch.json as { results: VerifyResult[] }).results.map(({ valid }) => valid),
    [true, false],
  );
});

test('the parameter environment of /auth/forward can only narrow', async () => {
  await using at = await withEnvironments(liveAndTest);
  const [live, inTest] = [await at.create('live'), await at.create('test', { environment: 'test' })];
  const expected: Readonly<Record<string, readonly [live: number, test: number]>> = {
    '?environment=live': [200, 403],
    '?environment=test': [403, 403],
    '?environment=live&environment=test': [403, 403],
    '?environment=test&environment=live': [403, 403],
    '?environment=live&environment=live': [200, 403],
    '?environment=production': [400, 400],
    '?environment=': [400, 400],
    '?environment=live&environment=': [400, 400],
  };
  for (const [query, [ofLive, ofTest]] of Object.entries(expected)) {
    assert.equal((await at.forward(live.key, query))[0], ofLive, query);
    assert.equal((await at.forward(inTest.key, query))[0], ofTest, query);
  }
});

test('with KEYREEVE_FORWARD_ENVIRONMENTS=any, /auth/forward accepts all and returns the environment', async () => {
  await using at = await withEnvironments(any);
  const [live, inTest] = [await at.create('live'), await at.create('test', { environment: 'test' })];
  assert.deepEqual(await at.forward(live.key), [200, 'live']);
  assert.deepEqual(await at.forward(inTest.key), [200, 'test']);
  assert.deepEqual(await at.forward(inTest.key, '?environment=live'), [403, null]);
  assert.deepEqual(await at.forward(inTest.key, '?environment=test'), [200, 'test']);
  assert.deepEqual(await at.forward(inTest.key, '?environment=test&environment=live'), [403, null]);
  assert.deepEqual(await at.forward(inTest.key, '?environment=live&environment=test'), [403, null]);
  // Only /auth/forward has the setting.
  assert.equal(await at.outcomeOf(inTest.key), 'wrong_environment');
});

test('a key keeps its environment in changes, rotations and while its previous secret is valid', async () => {
  await using at = await withEnvironments(liveAndTest);
  const { id, key } = await at.create('test', { environment: 'test', addresses: ['192.0.2.1'] });
  const path = `/auth/api-keys/${id}`;
  for (const json of [{ addresses: null }, { disabled: true }, { disabled: false }])
    assert.equal((await at.app.call('PATCH', path, { headers: at.headers, json })).status, 200);
  const rotated = (await at.app.call('POST', `${path}/rotate`, { headers: at.headers })).json as CreatedKey;
  assert.match(rotated.key, /^acme_test_/);
  for (const secret of [key, rotated.key]) {
    assert.equal(await at.outcomeOf(secret), 'wrong_environment');
    assert.equal(await at.outcomeOf(secret, { environments: ['test'] }), 'valid test');
  }
  const shown = await at.app.call('GET', path, { headers: at.headers });
  assert.equal((shown.json as KeyDetails).environment, 'test');
  const list = await at.app.call('GET', '/auth/api-keys?view=full', { headers: at.headers });
  const listed = (list.json as { apiKeys: KeyDetails[] }).apiKeys.map(({ environment }) => environment);
  assert.deepEqual(new Set(listed), new Set(['live', 'test']));
  assertRejected(
    await at.app.call('PATCH', path, { headers: at.headers, json: { environment: 'live' } }),
    'invalid_request',
  );
});

test('without the setting, keys of further environments are rejected, and all other keys stay valid', async () => {
  await using place = await newPlace();
  const before = await withEnvironments({ KEYREEVE_KEY_PREFIX: 'krv' }, place);
  const old = await before.create('old');
  assert.equal(await before.outcomeOf(old.key), 'valid');
  assert.deepEqual(await before.forward(old.key, '?environment=test'), [200, null], 'ignored');
  assertRejected(await before.tryCreate('x', { environment: 'test' }), 'invalid_request');
  await before[Symbol.asyncDispose]();

  const during = await withEnvironments(liveAndTest, place);
  const live = await during.create('live');
  const inTest = await during.create('test', { environment: 'test' });
  const restricted = await during.create('restricted', { environment: 'test', addresses: ['127.0.0.1'] });
  assert.equal(await during.outcomeOf(old.key), 'valid live', 'an existing key belongs to the first environment');
  const disabled = await during.create('disabled', { environment: 'test' });
  const path = `/auth/api-keys/${disabled.id}`;
  await during.app.call('PATCH', path, { headers: during.headers, json: { disabled: true } });
  const pair = newKeyPair();
  const publicId = await newPublicKeyKey(during.app, during.accessToken, pair, { environment: 'test' });
  const shortLived = await newShortLived(during.app, pair, publicId);
  assert.equal(await during.outcomeOf(shortLived, { environments: ['test'] }), 'valid test');
  const rotated = await during.app.call('POST', `/auth/api-keys/${inTest.id}/rotate`, { headers: during.headers });
  const current = (rotated.json as CreatedKey).key;
  await during[Symbol.asyncDispose]();

  const accepted = { KEYREEVE_KEY_PREFIXES_ACCEPTED: 'acme_live,acme_test' };
  await using after = await withEnvironments(accepted, place);
  assert.equal(await after.outcomeOf(old.key), 'valid');
  assert.equal(await after.outcomeOf(live.key), 'valid');
  // The previous and the current secret, and those of other branches of the read.
  for (const key of [inTest.key, current, disabled.key, shortLived])
    assert.equal(await after.outcomeOf(key), 'not_found');
  assert.equal(await after.outcomeOf(restricted.key, { address: '127.0.0.1' }), 'not_found');
  assert.equal((await exchange(after.app, newAssertion(after.app, pair, publicId))).status, 400);
});

test('another first environment stops the start, because it would make live keys test keys', async () => {
  await using place = await newPlace();
  await (await withEnvironments(liveAndTest, place))[Symbol.asyncDispose]();
  const reversed = { KEYREEVE_ENVIRONMENTS: 'test:acme_test,live:acme_live' };
  await assert.rejects(newApp({ place, environment: reversed }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /must begin with live, not with test/);
    return true;
  });
});

test('unknown environments are rejected with their place', async () => {
  await using at = await withEnvironments(liveAndTest);
  assert.deepEqual(assertRejected(await at.tryCreate('x', { environment: 'prod' }), 'invalid_request'), [
    '/environment',
  ]);
  const verify = (json: object, path = '/auth/verify') => at.app.call('POST', path, { headers: at.service, json });
  const bad: readonly (readonly [json: object, pointer: string])[] = [
    [{ credential: 'x', environments: ['live', 'prod'] }, '/environments/1'],
    [{ credential: 'x', environments: [] }, '/environments'],
    [{ credential: 'x', environments: 'test' }, '/environments'],
  ];
  for (const [json, pointer] of bad) assert.deepEqual(assertRejected(await verify(json), 'invalid_request'), [pointer]);
  const batch = await verify({ questions: [{ credential: 'x', environments: ['prod'] }] }, '/auth/verify/batch');
  assert.deepEqual(assertRejected(batch, 'invalid_request'), ['/questions/0/environments/0']);
});
