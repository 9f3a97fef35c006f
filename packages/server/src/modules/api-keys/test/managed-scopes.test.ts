/** Reserved scopes, which management keys and managers cannot grant, and the catalogue for service accounts. */
import assert from 'node:assert/strict';
import type { KeyDetails } from '@keyreeve/contract';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';

const reserved = ['keyreeve:verify', 'keyreeve:keys'];

const makeKey = (app: TestApp, accountId: string, scopes: readonly string[], nickname = 'worker') =>
  app.service.services.apiKeys.create(operator, accountId, { nickname, scopes });
const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;

test('only operators grant keyreeve:keys, and no request grants reserved scopes to a service account', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const backend = await newBackend(app);
  const admin = bearer(administrator.accessToken);
  const managed = `/auth/service-accounts/${await addServiceAccount(app.db, [administrator.account.id])}/api-keys`;
  const targets = [
    ['/auth/api-keys', admin, ['keyreeve:keys']],
    [managed, admin, reserved],
    [`${backend.path}/api-keys`, backend.headers, reserved],
  ] as const;
  for (const [path, headers, scopes] of targets) {
    const plain = await app.call('POST', path, { headers, json: { nickname: 'plain' } });
    const { id } = plain.json as { id: number };
    for (const scope of scopes) {
      const json = { nickname: 'reserved', scopes: [scope] };
      assertRejected(await app.call('POST', path, { headers, json }), 'reserved_scope', `${path} ${scope}`);
      const change = await app.call('PATCH', `${path}/${id}`, { headers, json: { scopes: [scope] } });
      assertRejected(change, 'reserved_scope', `${path} ${scope}`);
    }
  }
  const unknown = { nickname: 'unknown', scopes: ['keyreeve:other'] };
  assertRejected(await app.call('POST', '/auth/api-keys', { headers: admin, json: unknown }), 'scope_invalid');
});

test('a management key only disables or deletes a key with a reserved scope', async () => {
  await using app = await newApp();
  const { headers, path, serviceId } = await newBackend(app);
  for (const scope of reserved) {
    const { id, secret } = await makeKey(app, serviceId, [scope], scope);
    const { keyChanges } = app.service.services;
    const key = await keyChanges.rotate(operator, serviceId, id, { overlapSeconds: 60, endPrevious: false });
    const at = `${path}/api-keys/${id}`;
    for (const [method, below, json] of [
      ['PATCH', '', { nickname: 'mine' }],
      ['PATCH', '', { scopes: [] }],
      ['PATCH', '', { disabled: true, nickname: 'mine' }],
      ['PATCH', '', { disabled: false }],
      ['POST', '/rotate', { endPrevious: true }],
      ['POST', '/rotate', { endCurrent: true }],
    ] as const)
      assertRejected(await app.call(method, at + below, { headers, json }), 'reserved_scope', JSON.stringify(json));
    assertRejected(await app.call('DELETE', `${at}/previous`, { headers }), 'reserved_scope');
    assert.deepEqual([await statusOf(app, secret.reveal()), await statusOf(app, key.secret.reveal())], [200, 200]);

    assert.equal((await app.call('PATCH', at, { headers, json: { disabled: true } })).status, 200);
    assert.equal(await statusOf(app, key.secret.reveal()), 401);
    assertRejected(await app.call('PATCH', at, { headers, json: { disabled: false } }), 'reserved_scope');
    assert.equal((await app.call('DELETE', at, { headers })).status, 200);
  }
});

test('a manager needs a recent sign-in to rotate or widen a key with a reserved scope', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const headers = bearer(user.accessToken);
  const serviceId = await addServiceAccount(app.db, [user.account.id]);
  const { id } = await makeKey(app, serviceId, ['keyreeve:verify']);
  const at = `/auth/service-accounts/${serviceId}/api-keys/${id}`;
  assert.equal((await app.call('POST', `${at}/rotate`, { headers })).status, 200);
  app.clock.advance({ seconds: 360 });
  assertRejected(await app.call('POST', `${at}/rotate`, { headers, json: { endPrevious: true } }), 'reauth_required');
  assert.equal((await app.call('PATCH', at, { headers, json: { disabled: true } })).status, 200);
  assertRejected(await app.call('PATCH', at, { headers, json: { disabled: false } }), 'reauth_required');
  const kept = await app.call('PATCH', at, { headers, json: { scopes: ['keyreeve:verify', 'a'] } });
  assert.deepEqual((kept.json as KeyDetails).scopes, ['keyreeve:verify', 'a']);
});

test('an administrator who adds keyreeve:verify to a management key ties its reserved scopes to the role', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const headers = bearer(administrator.accessToken);
  const { id } = await makeKey(app, administrator.account.id, ['keyreeve:keys']);
  const path = `/auth/api-keys/${id}`;
  const added = await app.call('PATCH', path, { headers, json: { scopes: ['keyreeve:keys', 'keyreeve:verify'] } });
  assert.equal(added.status, 200, added.text);
  await newAdministrator(app, 'second@example.com');
  await app.service.services.accounts.setRole(operator, administrator.account.id, 'user');
  const [key] = await app.service.services.apiKeys.list(administrator.account.id);
  assert.deepEqual(key?.scopes, []);
});

test('with the catalogue, a management key grants what the service account may grant, and entitles it to its own', async () => {
  await using app = await newApp({ environment: { KEYREEVE_SCOPES: 'catalogue' } });
  const { scopeCatalogue, entitlements } = app.service.services;
  await scopeCatalogue.set(operator, 'orders:read', { description: '', entitled: false });
  for (const name of ['reports:read', 'reports:write'])
    await scopeCatalogue.set(operator, name, { description: '', entitled: true });
  const { headers, path, accountId, serviceId } = await newBackend(app);
  const create = (scopes: readonly string[], nickname = scopes.join()) =>
    app.call('POST', `${path}/api-keys`, { headers, json: { nickname, scopes } });
  const entitle = (names: readonly string[]) =>
    app.call('PUT', `${path}/entitlements`, { headers, json: { entitlements: names } });
  assert.equal((await create(['orders:read'])).status, 201);
  for (const scope of ['undeclared', 'reports:read'])
    assertRejected(await create([scope]), 'scope_not_entitled', scope);

  const lacking = await entitle(['reports:read']);
  assertRejected(lacking, 'scope_not_entitled');
  assert.match(lacking.text, new RegExp(`account entitlements ${accountId} --set`));
  await entitlements.set(operator, accountId, ['reports:read']);
  assertRejected(await create(['reports:read']), 'scope_not_entitled', 'its own entitlement is not the tenant’s');
  assert.deepEqual(assertRejected(await entitle(['reports:read', 'reports:write']), 'scope_not_entitled'), [
    '/entitlements/1',
  ]);
  assertRejected(await entitle(['orders:read']), 'invalid_request', 'not marked');
  assert.deepEqual((await entitle(['reports:read'])).json, { entitlements: ['reports:read'] });
  const created = await create(['reports:read']);
  assert.equal(created.status, 201, created.text);

  // An operator may give the service account more, and the management key may keep it.
  await entitlements.set(operator, serviceId, ['reports:read', 'reports:write']);
  assert.equal((await entitle(['reports:write'])).status, 200);
  assertRejected(await create(['reports:read'], 'again'), 'scope_not_entitled');
  const { key } = created.json as { key: string };
  assert.equal((await app.call('GET', '/auth/forward?scope=reports:read', { headers: bearer(key) })).status, 403);
});
