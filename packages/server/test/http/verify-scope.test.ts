/** `keyreeve:verify` granted over HTTP: by whom, and what becomes of it when the account loses the role. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type ListedKeyFull } from '@keyreeve/contract';
import { basic, bearer, newApp, operator, type Answered, type TestApp } from '../../src/testing/new-app.ts';
import { newAdministrator } from './admin-kit.ts';
import { assertProblem, fromFetch } from './assert-problem.ts';
import { test } from './on-each-database.ts';

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

test('an administrator grants keyreeve:verify to a key of its own, lately signed in; nobody else over HTTP', async () => {
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

test('losing the role takes keyreeve:verify from keys at once, through every way of asking, and nothing else', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const administrator = await newAdministrator(app);
  const { accounts } = app.service.services;
  const { id, key } = await newServiceKey(app, administrator.accessToken);
  const watcher = await app.serviceKey();
  const asWatcher = (): Promise<Answered> =>
    app.call('POST', '/auth/verify', { headers: bearer(watcher), json: { credential: key } });
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
  assert.deepEqual(scopesOf(await asWatcher()), ['orders:read']);
  assert.equal((await forwarded('orders:read')).headers.get('x-keyreeve-scopes'), 'orders:read');
  const list = await app.call('GET', '/auth/api-keys?view=full', { headers: bearer(administrator.accessToken) });
  const [listed] = (list.json as { apiKeys: ListedKeyFull[] }).apiKeys;
  assert.deepEqual(listed?.scopes, ['orders:read']);

  await accounts.setRole(operator, administrator.account.id, 'admin');
  assert.deepEqual(scopesOf(await verify(app, key)), scopes, 'the role is what counts');
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

test('a caller without the scope is told which one is missing and how to get it', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const { key } = (await create(app, accessToken, { nickname: 'plain', scopes: ['a'] })).json as CreatedKey;
  const refused = await verify(app, key);
  const { detail } = assertProblem(fromFetch(refused), 'insufficient_scope');
  assert.match(
    detail,
    /lacks the scope `keyreeve:verify`\. An administrator creates a key with it: POST \/auth\/api-keys/,
  );
  assert.match(detail, /keyreeve key create --scope keyreeve:verify/);
  assert.equal(
    refused.headers.get('www-authenticate'),
    'Bearer realm="keyreeve", error="insufficient_scope", scope="keyreeve:verify"',
  );
  const forwarded = await app.call('GET', '/auth/forward?scope=a&scope=b+c&scope=%22%20%0A', { headers: bearer(key) });
  const problem = assertProblem(fromFetch(forwarded), 'insufficient_scope');
  assert.equal(problem.detail, 'The credential is valid but lacks the scopes `b`, `c`.');
});

test('of creations and a loss of the role at the same time no key keeps the scope', async () => {
  await using app = await newApp();
  await newAdministrator(app);
  const administrator = await newAdministrator(app);
  const { accounts, apiKeys } = app.service.services;
  const creations = Array.from({ length: 16 }, (_, rival) =>
    create(app, administrator.accessToken, { nickname: `rival ${rival}`, scopes }),
  );
  await Promise.all([...creations, accounts.setRole(operator, administrator.account.id, 'user')]);
  for (const answer of await Promise.all(creations))
    assert.ok([201, 401, 403, 429].includes(answer.status), answer.text);
  for (const key of await apiKeys.list(administrator.account.id)) assert.deepEqual(key.scopes, ['orders:read']);
});
