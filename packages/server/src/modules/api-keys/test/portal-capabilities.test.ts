/** Which requests the capabilities of a portal session open. */
import assert from 'node:assert/strict';
import { test as plainTest } from 'node:test';
import { allRoutes, portalKeyRoutes } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend } from '../../../../test-kit/portal.ts';
import { assertMayCall } from '../portal-capabilities.ts';
import { allCapabilities, assertOpens } from './portal-matrix.ts';

plainTest('every route of a portal session has its capability', () => {
  const principal = {
    kind: 'portal',
    sessionId: 'por_1',
    accountId: 'acc_1',
    keyId: 1,
    lookup: 1,
    serviceAccountId: 'acc_2',
    capabilities: [],
    scopes: undefined,
    person: null,
  } as const;
  const ids = allRoutes.filter(({ auth }) => auth === 'portal_session').map(({ id }) => id);
  const open = ids.filter((id) => {
    try {
      assertMayCall({ id }, principal);
      return true;
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'portal_capability_required', id);
      return false;
    }
  });
  assert.deepEqual(open, ['getPortalSession', 'endOwnPortalSession']);
  assert.equal(ids.length, open.length + portalKeyRoutes.length);
  assert.throws(() => assertMayCall({ id: 'listPortalKey' }, principal), /no capability is declared/);
});

test('each capability alone, and all without it, open exactly their requests', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  for (const capability of allCapabilities) {
    await assertOpens(app, backend, [capability]);
    await assertOpens(
      app,
      backend,
      allCapabilities.filter((other) => other !== capability),
    );
  }
});

test('no other credential opens the key page, and its secret opens nothing else', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const { headers } = await backend.open();
  const { accessToken } = await app.signIn();
  for (const { method, path } of portalKeyRoutes) {
    const at = path.replace(':id', '1');
    for (const other of [backend.headers, bearer(accessToken), { 'x-api-key': headers.authorization.slice(7) }, {}])
      assertRejected(await app.call(method, at, { headers: other }), 'portal_session_ended', `${method} ${at}`);
  }
  for (const [path, code] of [
    ['/auth/api-keys', 'invalid_access_token'],
    ['/auth/account', 'invalid_access_token'],
    ['/admin/accounts', 'invalid_access_token'],
    [`${backend.path}/api-keys`, 'invalid_management_key'],
  ] as const)
    assertRejected(await app.call('GET', path, { headers }), code, path);
  assert.equal((await app.call('GET', '/auth/forward', { headers })).status, 401);
});

test('a request without its capability is rejected before its body is read', async () => {
  await using app = await newApp();
  const { open } = await newPortalBackend(app);
  const { headers } = await open({ capabilities: ['read'] });
  const answer = await app.call('POST', '/auth/portal/api-keys', { headers, json: { unknown: 1 } });
  assertRejected(answer, 'portal_capability_required');
});
