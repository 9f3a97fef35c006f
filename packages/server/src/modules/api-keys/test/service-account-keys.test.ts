/** Keys of service accounts: the requests of own keys, sent by a manager or a management key. */
import assert from 'node:assert/strict';
import {
  publicKeyExample,
  type CreatedKey,
  type KeyDetails,
  type ListedKey,
  type RotatedKey,
} from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { newBackend, removeManagers } from '../../../../test-kit/service-accounts.ts';

type Headers = Readonly<Record<string, string>>;

const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;

/** All requests of keys below `path`, with the id of a key. */
const requests = (id: number): readonly (readonly [method: string, path: string, json?: unknown])[] => [
  ['POST', '/api-keys', { nickname: 'another' }],
  ['POST', '/api-keys/public', { nickname: 'with a public key', publicKey: publicKeyExample }],
  ['GET', '/api-keys'],
  ['GET', `/api-keys/${id}`],
  ['PATCH', `/api-keys/${id}`, { disabled: true }],
  ['POST', `/api-keys/${id}/rotate`, { overlapSeconds: 0 }],
  ['DELETE', `/api-keys/${id}/previous`],
  ['GET', `/api-keys/${id}/usage`],
  ['DELETE', `/api-keys/${id}`],
];

const send = (
  app: TestApp,
  headers: Headers,
  path: string,
  [method, below, json]: readonly [string, string, unknown?],
): Promise<Answered> => app.call(method, path + below, json === undefined ? { headers } : { headers, json });

async function assertAllRejected(app: TestApp, headers: Headers, path: string, id: number) {
  for (const request of requests(id))
    assertRejected(await send(app, headers, path, request), 'account_not_found', request.slice(0, 2).join(' '));
}

test('a manager and a management key manage the keys of a service account like own keys', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const backend = await newBackend(app);
  const ofUser = await addServiceAccount(app.db, [user.account.id]);
  const callers = [
    [bearer(user.accessToken), ofUser, `account:${user.account.id}`],
    [backend.headers, backend.serviceId, `key:${backend.keyId}`],
    [{ 'x-api-key': backend.key }, await addServiceAccount(app.db, [backend.accountId]), `key:${backend.keyId}`],
  ] as const;
  for (const [headers, serviceId, actor] of callers) {
    const path = `/auth/service-accounts/${serviceId}`;
    const before = (await listAuditEvents(app.db)).length;
    const created = await send(app, headers, path, ['POST', '/api-keys', { nickname: 'worker' }]);
    assert.equal(created.status, 201, created.text);
    const { id, key, ...others } = created.json as CreatedKey;
    assert.deepEqual(Object.keys(others), ['nickname', 'createdAt', 'updatedAt']);
    assert.equal(created.headers.get('location'), `${path}/api-keys/${id}`);
    const verified = await app.call('GET', '/auth/forward', { headers: bearer(key) });
    assert.equal(verified.headers.get('x-keyreeve-account'), serviceId);

    const listed = await send(app, headers, path, ['GET', '/api-keys']);
    assert.deepEqual(listed.json, {
      apiKeys: [{ id, nickname: 'worker', createdAt: others.createdAt, updatedAt: others.updatedAt }],
    });
    const page = await send(app, headers, path, ['GET', '/api-keys?limit=1']);
    assert.equal((page.json as { nextCursor: unknown }).nextCursor, null);
    const usage = await send(app, headers, path, ['GET', `/api-keys/${id}/usage`]);
    assert.deepEqual(usage.status, 200);

    const changed = await send(app, headers, path, [
      'PATCH',
      `/api-keys/${id}`,
      { nickname: 'renamed', disabled: true },
    ]);
    assert.deepEqual((changed.json as KeyDetails).disabledReason, 'owner');
    assert.equal(await statusOf(app, key), 401);
    await send(app, headers, path, ['PATCH', `/api-keys/${id}`, { disabled: false }]);
    assert.equal(await statusOf(app, key), 200);
    const rotated = await send(app, headers, path, ['POST', `/api-keys/${id}/rotate`]);
    const { key: second } = rotated.json as RotatedKey;
    assert.deepEqual([await statusOf(app, key), await statusOf(app, second)], [200, 200]);
    assert.equal((await send(app, headers, path, ['DELETE', `/api-keys/${id}/previous`])).status, 200);
    assert.deepEqual([await statusOf(app, key), await statusOf(app, second)], [401, 200]);
    const details = await send(app, headers, path, ['GET', `/api-keys/${id}`]);
    assert.equal((details.json as KeyDetails).nickname, 'renamed');
    assert.equal((await send(app, headers, path, ['DELETE', `/api-keys/${id}`])).status, 200);
    assert.equal(await statusOf(app, second), 401);
    assertRejected(await send(app, headers, path, ['GET', `/api-keys/${id}`]), 'key_not_found');

    const events = (await listAuditEvents(app.db)).slice(before);
    assert.ok(events.length >= 6);
    for (const event of events)
      assert.deepEqual([event.actor, event.accountId, event.target], [actor, serviceId, String(id)], event.action);
  }
});

test('an account that does not manage a service account gets 404 for every request', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const { apiKeys } = app.service.services;
  const { id, secret } = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker' });
  const stranger = await app.signIn();
  const other = await newBackend(app);
  const before = await listAuditEvents(app.db);
  for (const headers of [bearer(stranger.accessToken), other.headers])
    await assertAllRejected(app, headers, backend.path, id);
  // Neither a person nor a management key manages the own account, or that of another person.
  const own = await app.call('POST', '/auth/api-keys', {
    headers: bearer(stranger.accessToken),
    json: { nickname: 'a' },
  });
  const ownId = (own.json as CreatedKey).id;
  const events = await listAuditEvents(app.db);
  assert.equal(events.length, before.length + 1);
  for (const [headers, accountId, keyId] of [
    [bearer(stranger.accessToken), stranger.account.id, ownId],
    [backend.headers, backend.accountId, backend.keyId],
    [backend.headers, stranger.account.id, ownId],
    [backend.headers, 'acc_unknown', id],
    [backend.headers, '%00', id],
    [backend.headers, `${backend.serviceId}%20`, id],
  ] as const)
    await assertAllRejected(app, headers, `/auth/service-accounts/${accountId}`, keyId);
  await removeManagers(app.db, backend.serviceId);
  await assertAllRejected(app, backend.headers, backend.path, id);
  assert.deepEqual(await listAuditEvents(app.db), events);
  assert.equal(await statusOf(app, secret.reveal()), 200, 'the keys stay valid without a manager');
});

test('a key of another account is 401 below a service account, also for its manager', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const second = await addServiceAccount(app.db, [backend.accountId]);
  const { apiKeys } = app.service.services;
  const { id, secret } = await apiKeys.create(operator, second, { nickname: 'worker' });
  const events = await listAuditEvents(app.db);
  for (const keyId of [id, backend.keyId])
    for (const request of requests(keyId).slice(3))
      assertRejected(await send(app, backend.headers, backend.path, request), 'not_key_owner', request.join(' '));
  for (const request of requests(1).slice(3))
    assertRejected(await send(app, backend.headers, backend.path, request), 'key_not_found', request.join(' '));
  assert.deepEqual(await listAuditEvents(app.db), events);
  assert.equal(await statusOf(app, secret.reveal()), 200);
});

test('a management key calls no route except those of service accounts', async () => {
  await using app = await newApp();
  const { headers, keyId } = await newBackend(app);
  for (const [method, path] of [
    ['GET', '/auth/api-keys'],
    ['DELETE', `/auth/api-keys/${keyId}`],
    ['POST', `/auth/api-keys/${keyId}/rotate`],
    ['GET', '/auth/sessions'],
    ['GET', '/auth/account'],
    ['GET', '/auth/scopes'],
    ['GET', '/admin/accounts'],
  ] as const)
    assertRejected(await app.call(method, path, { headers }), 'invalid_access_token', path);
  const verify = await app.call('POST', '/auth/verify', { headers, json: { credential: 'a' } });
  assertRejected(verify, 'insufficient_scope');
});

test('the keys of a service account count towards its own limits, and the creations towards the caller', async () => {
  await using app = await newApp({
    environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '1', KEYREEVE_CREATIONS_PER_MINUTE_MAX: '2' },
  });
  const user = await app.signIn();
  const headers = bearer(user.accessToken);
  const create = async (path: string) => app.call('POST', `${path}/api-keys`, { headers, json: { nickname: 'a' } });
  const services = [];
  for (let count = 0; count < 3; count++) services.push(await addServiceAccount(app.db, [user.account.id]));
  const [first, second, third] = services.map((id) => `/auth/service-accounts/${id}`);
  assert.equal((await create(first ?? '')).status, 201);
  assertRejected(await create(first ?? ''), 'key_limit_reached');
  assert.equal((await create(second ?? '')).status, 201);
  for (const path of [third ?? '', '/auth']) assertRejected(await create(path), 'too_many_creations', path);

  const backend = await newBackend(app);
  for (let count = 0; count < 3; count++) {
    const path = `/auth/service-accounts/${await addServiceAccount(app.db, [backend.accountId])}/api-keys`;
    const answer = await app.call('POST', path, { headers: backend.headers, json: { nickname: 'a' } });
    assert.equal(answer.status, 201, answer.text);
  }
});

test('a management key cannot enable a key that an administrator disabled', async () => {
  await using app = await newApp();
  const { headers, path, serviceId } = await newBackend(app);
  const { apiKeys, keyChanges } = app.service.services;
  const { id } = await apiKeys.create(operator, serviceId, { nickname: 'worker' });
  await keyChanges.change(operator, serviceId, id, { disabled: true });
  const answer = await send(app, headers, path, ['PATCH', `/api-keys/${id}`, { disabled: false }]);
  assertRejected(answer, 'administrator_required');
});

test('a manager and a management key register public keys for a service account', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const backend = await newBackend(app);
  const ofUser = await addServiceAccount(app.db, [user.account.id]);
  for (const [headers, path, actor] of [
    [bearer(user.accessToken), `/auth/service-accounts/${ofUser}`, `account:${user.account.id}`],
    [backend.headers, backend.path, `key:${backend.keyId}`],
  ] as const) {
    const body = { nickname: 'tenant', publicKey: publicKeyExample };
    const created = await send(app, headers, path, ['POST', '/api-keys/public', body]);
    assert.equal(created.status, 201, created.text);
    const { id, ...others } = created.json as ListedKey;
    assert.deepEqual(Object.keys(others), ['nickname', 'createdAt', 'updatedAt']);
    assert.equal(created.headers.get('location'), `${path}/api-keys/${id}`);
    const { publicKey } = (await send(app, headers, path, ['GET', `/api-keys/${id}`])).json as KeyDetails;
    assert.deepEqual(publicKey, publicKeyExample);
    assert.equal((await listAuditEvents(app.db)).at(-1)?.actor, actor);
    const withScope = { ...body, nickname: 'service', scopes: ['keyreeve:verify'] };
    assertRejected(await send(app, headers, path, ['POST', '/api-keys/public', withScope]), 'reserved_scope');
    const rotation = await send(app, headers, path, ['POST', `/api-keys/${id}/rotate`, {}]);
    assert.deepEqual(assertRejected(rotation, 'invalid_request'), ['/publicKey']);
  }
});
