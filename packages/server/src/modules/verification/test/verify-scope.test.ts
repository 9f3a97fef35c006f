/** The scope `keyreeve:verify`: its grant over HTTP, and its loss together with the role. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type ListedKeyFull } from '@keyreeve/contract';
import {
  basic,
  bearer,
  newApp,
  operator,
  type Answered,
  type CallOptions,
  type TestApp,
} from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

/** Requests per route and instance after the loss of the role. */
const lateMin = 5;
const scopes = ['orders:read', 'keyreeve:verify'];

const create = (app: TestApp, accessToken: string, json: object = { nickname: 'service', scopes }): Promise<Answered> =>
  app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json });

const verify = (app: TestApp, key: string): Promise<Answered> =>
  app.call('POST', '/auth/verify', { headers: bearer(key), json: { credential: key } });

async function newServiceKey(app: TestApp, accessToken: string): Promise<CreatedKey> {
  const created = await create(app, accessToken);
  assert.equal(created.status, 201, created.text);
  return created.json as CreatedKey;
}

const scopesOf = (answer: Answered): unknown => (answer.json as { scopes: unknown }).scopes;

test('over HTTP only an administrator with a recent sign-in grants keyreeve:verify, to an own key', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { key } = await newServiceKey(app, administrator.accessToken);
  assert.deepEqual(scopesOf(await verify(app, key)), scopes);

  const ordinary = await app.signIn();
  assertProblem(fromFetch(await create(app, ordinary.accessToken)), 'reserved_scope');
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  assertProblem(fromFetch(await create(app, administrator.accessToken)), 'reauth_required');
  const plain = await create(app, administrator.accessToken, { nickname: 'plain', scopes: ['orders:read'] });
  assert.equal(plain.status, 201, 'other scopes need no recent sign-in');
  assert.deepEqual(await app.service.services.apiKeys.list(ordinary.account.id), []);
});

test('when its owner loses the role, a key loses keyreeve:verify immediately on every route', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const administrator = await newAdministrator(app);
  const { accounts } = app.service.services;
  const { id, key } = await newServiceKey(app, administrator.accessToken);
  const otherService = await app.serviceKey();
  const asOtherService = (): Promise<Answered> =>
    app.call('POST', '/auth/verify', { headers: bearer(otherService), json: { credential: key } });
  const batch = () => app.call('POST', '/auth/verify/batch', { headers: bearer(key), json: { credentials: [key] } });
  const introspect = () =>
    app.call('POST', '/auth/introspect', {
      headers: { ...basic(String(id), key), 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${key}`,
    });
  const forwarded = (scope: string) => app.call('GET', `/auth/forward?scope=${scope}`, { headers: bearer(key) });
  for (const answer of [await verify(app, key), await batch(), await introspect(), await forwarded('keyreeve:verify')])
    assert.equal(answer.status, 200, answer.text);

  await accounts.setRole(operator, administrator.account.id, 'user');
  for (const answer of [await verify(app, key), await batch(), await introspect(), await forwarded('keyreeve:verify')])
    assertProblem(fromFetch(answer), 'insufficient_scope');
  assert.deepEqual(scopesOf(await asOtherService()), ['orders:read']);
  assert.equal((await forwarded('orders:read')).headers.get('x-keyreeve-scopes'), 'orders:read');
  const list = await app.call('GET', '/auth/api-keys?view=full', { headers: bearer(administrator.accessToken) });
  const [listed] = (list.json as { apiKeys: ListedKeyFull[] }).apiKeys;
  assert.deepEqual(listed?.scopes, ['orders:read']);

  await accounts.setRole(operator, administrator.account.id, 'admin');
  assert.deepEqual(scopesOf(await verify(app, key)), scopes, 'the scope is in force again with the role');
});

const requests: readonly (readonly [path: string, request: (id: number, key: string) => CallOptions])[] = [
  ['/auth/verify', (_, key) => ({ headers: bearer(key), json: { credential: key } })],
  ['/auth/verify/batch', (_, key) => ({ headers: bearer(key), json: { credentials: [key] } })],
  ['/auth/introspect', (id, key) => introspection(basic(String(id), key).authorization, key)],
  ['/auth/introspect', (_, key) => introspection(bearer(key).authorization, key)],
];
const introspection = (authorization: string, token: string): CallOptions => ({
  headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
  body: `token=${token}`,
});

testOnBoth('after the response to the loss of the role every instance rejects the key as a caller', async () => {
  await using place = await newPlace();
  await using app = await newApp({ place });
  await using other = await newApp({ place });
  const { accessToken } = await newAdministrator(app);
  const losses = {
    'to another administrator': async (id: string) =>
      assert.equal(
        (await administer(app, { accessToken }, 'PUT', `accounts/${id}/role`, { role: 'user' })).status,
        200,
      ),
    'to the operator': (id: string) => app.service.services.accounts.setRole(operator, id, 'user'),
  };
  for (const [loss, lose] of Object.entries(losses)) {
    const { account, accessToken: own } = await newAdministrator(app);
    const { id, key } = await newServiceKey(app, own);
    const calls = [app, other].flatMap((instance) =>
      requests.map(([path, request]) => ({ path, call: () => instance.call('POST', path, request(id, key)) })),
    );
    for (const { path, call } of calls) assert.equal((await call()).status, 200, `${loss}: ${path}`);
    let isLost = false;
    const loops = calls.map(async ({ path, call }) => {
      for (let late = 0; late < lateMin;) {
        const isLate = isLost;
        const answer = await call();
        if (!isLate) continue;
        late++;
        assertProblem(fromFetch(answer), 'insufficient_scope', `${loss}: ${path}`);
      }
    });
    // A failure ends the test at once instead of after all loops.
    await Promise.race([lose(account.id), ...loops]);
    isLost = true;
    await Promise.all(loops);
  }
});

test('a scope that an operator granted does not depend on a role', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const { account } = await newAdministrator(app);
  const { accounts, apiKeys } = app.service.services;
  const { secret } = await apiKeys.create(operator, account.id, { nickname: 'by the operator', scopes });
  await accounts.setRole(operator, account.id, 'user');
  assert.deepEqual(scopesOf(await verify(app, secret.reveal())), scopes);
});

test('the rejection of a caller names the missing scope and how to get it', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const { key } = (await create(app, accessToken, { nickname: 'plain', scopes: ['a'] })).json as CreatedKey;
  const rejected = await verify(app, key);
  const { detail } = assertProblem(fromFetch(rejected), 'insufficient_scope');
  assert.match(
    detail,
    /lacks the scope `keyreeve:verify`\. An administrator creates a key with it: POST \/auth\/api-keys/,
  );
  assert.match(detail, /keyreeve key create --scope keyreeve:verify/);
  assert.equal(
    rejected.headers.get('www-authenticate'),
    'Bearer realm="keyreeve", error="insufficient_scope", scope="keyreeve:verify"',
  );
  const forwarded = await app.call('GET', '/auth/forward?scope=a&scope=b+c&scope=%22%20%0A', { headers: bearer(key) });
  const problem = assertProblem(fromFetch(forwarded), 'insufficient_scope');
  assert.equal(problem.detail, 'The credential is valid but lacks the scopes `b`, `c`.');
});

testOnBoth('concurrent creations and the loss of the role leave no key with the scope', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const administrator = await newAdministrator(app);
  const { accounts, apiKeys } = app.service.services;
  const creations = Array.from({ length: 16 }, (_, rival) =>
    whenAvailable(() => create(app, administrator.accessToken, { nickname: `rival ${rival}`, scopes })),
  );
  await Promise.all([...creations, accounts.setRole(operator, administrator.account.id, 'user')]);
  for (const answer of await Promise.all(creations))
    assert.ok([201, 401, 403, 429].includes(answer.status), answer.text);
  for (const key of await apiKeys.list(administrator.account.id)) assert.deepEqual(key.scopes, ['orders:read']);
});
