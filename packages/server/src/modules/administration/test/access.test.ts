/** Every route under /admin requires an administrator (ASVS 5.0 8.1.1, 8.4.2). */
import assert from 'node:assert/strict';
import { allRoutes, errorsOf } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { basic, bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import {
  administer,
  administratorRoutes,
  problemCode,
  detailOf,
  goodRequest,
  newAdministrator,
  newTarget,
  type Target,
} from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { optionalRoutes } from '../../../../test-kit/optional-routes.ts';

type Headers = Readonly<Record<string, string>>;

/** Asserts that each route rejects a request with these headers, and that nothing changes. */
async function assertAllReject(
  app: TestApp,
  target: Target,
  headers: Headers,
  [status, code, routes = administratorRoutes]: readonly [number, string, typeof administratorRoutes?],
): Promise<void> {
  const before = await listAuditEvents(app.db);
  for (const route of routes) {
    const [method, path, options] = goodRequest(route, target);
    const answer = await app.call(method, path, { ...options, headers });
    assert.deepEqual([answer.status, problemCode(answer)], [status, code], `${method} ${path}`);
  }
  assert.deepEqual(await listAuditEvents(app.db), before, 'nothing changed');
}

test('every route under /admin requires an administrator, and no other route does', { tags: ['asvs:8.2.1'] }, () => {
  assert.ok(administratorRoutes.length >= 20, 'the contract has routes for administrators');
  const underAdmin = allRoutes.filter(({ path }) => path.startsWith('/admin'));
  assert.deepEqual(underAdmin, administratorRoutes);
  for (const route of administratorRoutes) {
    assert.ok(route.path.startsWith('/admin/'), route.path);
    const isReadOnly = route.method === 'GET';
    // The request itself proves the administrator, however long ago the sign-in was.
    const needsSignIn = !isReadOnly && route.id !== 'adminCreateManagementKey';
    assert.equal(route.needsRecentSignIn ?? false, needsSignIn, `${route.method} ${route.path}`);
    assert.equal(errorsOf(route).includes('reauth_required'), needsSignIn, route.id);
  }
});

test('a request without a valid access token is rejected on every route', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  const target = await newTarget(app);
  await assertAllReject(app, target, {}, [401, 'missing_access_token']);
  await assertAllReject(app, target, bearer('eyJhbGciOiJub25lIn0.e30.'), [401, 'invalid_access_token']);
});

test(
  'a password, an API key and a refresh token of an administrator are rejected on every route',
  { tags: ['asvs:8.2.1'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    const target = await newTarget(app);
    const { account, accessToken, refreshToken } = await newAdministrator(app);
    const { apiKeys } = app.service.services;
    const { secret } = await apiKeys.create(operator, account.id, { nickname: 'own', scopes: ['keyreeve:verify'] });
    const credentials: readonly Headers[] = [
      basic(account.email, goodPassword),
      bearer(secret.reveal()),
      { 'x-api-key': secret.reveal() },
      bearer(refreshToken),
    ];
    for (const headers of credentials) await assertAllReject(app, target, headers, [401, 'invalid_access_token']);
    const both = { ...bearer(accessToken), 'x-api-key': secret.reveal() };
    await assertAllReject(app, target, both, [401, 'ambiguous_credentials']);
  },
);

test(
  'an account with the role user is rejected on every route, for its own account as well',
  { tags: ['asvs:8.2.1'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    const target = await newTarget(app);
    await assertAllReject(app, target, bearer(target.accessToken), [403, 'administrator_required']);
  },
);

test(
  'an administrator who signed in more than five minutes ago can read but not change',
  { tags: ['asvs:10.3.4'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    const target = await newTarget(app);
    const administrator = await newAdministrator(app);
    const headers = bearer(administrator.accessToken);
    app.clock.advance({ seconds: 301 });
    const changing = administratorRoutes.filter(({ needsRecentSignIn }) => needsRecentSignIn);
    await assertAllReject(app, target, headers, [403, 'reauth_required', changing]);
    // A refresh does not make the sign-in more recent.
    const { refreshToken } = administrator;
    const pair = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
    const refreshed = bearer((pair.json as { accessToken: string }).accessToken);
    await assertAllReject(app, target, refreshed, [403, 'reauth_required', changing]);
    for (const route of administratorRoutes.filter(
      ({ method, path }) => method === 'GET' && !/(?:webhooks|issuers)\/:/.test(path),
    )) {
      const [method, path] = goodRequest(route, target);
      assert.equal((await app.call(method, path, { headers })).status, 200, path);
    }
  },
);

test('an administrator who signed in exactly five minutes ago can still make changes', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  const target = await newTarget(app);
  const administrator = await newAdministrator(app);
  app.clock.advance({ seconds: 300 });
  const done = await administer(app, administrator, 'POST', `accounts/${target.account.id}/disable`);
  assert.equal(done.status, 200, done.text);
});

test('a demotion applies to access tokens issued before it', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  const target = await newTarget(app);
  const [first, second] = [await newAdministrator(app), await newAdministrator(app)];
  const demoted = await administer(app, second, 'PUT', `accounts/${first.account.id}/role`, { role: 'user' });
  assert.equal(demoted.status, 200, demoted.text);
  assert.equal((await app.call('GET', '/auth/api-keys', { headers: bearer(first.accessToken) })).status, 200);
  await assertAllReject(app, target, bearer(first.accessToken), [403, 'administrator_required']);
});

test('administrators who were disabled, deleted or signed out are rejected on every route', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  const target = await newTarget(app);
  const last = await newAdministrator(app);
  const [disabled, deleted, signedOut] = [
    await newAdministrator(app),
    await newAdministrator(app),
    await newAdministrator(app),
  ];
  assert.equal((await administer(app, last, 'POST', `accounts/${disabled.account.id}/disable`)).status, 200);
  assert.equal((await administer(app, last, 'DELETE', `accounts/${deleted.account.id}`)).status, 200);
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: signedOut.refreshToken } });
  for (const { accessToken } of [disabled, deleted, signedOut])
    await assertAllReject(app, target, bearer(accessToken), [401, 'invalid_access_token']);
});

test('a promotion applies to access tokens issued before it', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  const administrator = await newAdministrator(app);
  const { account, ...user } = await app.signIn();
  assert.equal((await administer(app, user, 'GET', 'accounts')).status, 403);
  assert.equal(
    (await administer(app, administrator, 'PUT', `accounts/${account.id}/role`, { role: 'admin' })).status,
    200,
  );
  assert.equal((await administer(app, user, 'GET', 'accounts')).status, 200);
  assert.equal((await detailOf(app, administrator, account.id)).role, 'admin');
});
