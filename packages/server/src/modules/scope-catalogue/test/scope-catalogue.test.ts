/** The scope catalogue over HTTP: which scopes accounts can grant, and which are in force. */
import assert from 'node:assert/strict';
import type { CreatedKey, DeclaredScope, KeyDetails, VerifyResult } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { sql } from '../../../foundation/database/sql.ts';

const enforced = { KEYREEVE_SCOPES: 'catalogue', KEYREEVE_PUBLIC_URL: 'http://auth.localhost' };

/** Two instances on one database, an administrator, an account and a service. */
async function fixture(environment: Readonly<Record<string, string>> = enforced) {
  const place = await newPlace();
  const app = await newApp({ place, environment });
  const other = await newApp({ place, environment });
  const administrator = await newAdministrator(app);
  const user = await app.signIn();
  const service = bearer(await app.serviceKey());
  const headers = bearer(user.accessToken);
  const admin = (method: string, path: string, json?: unknown) => administer(app, administrator, method, path, json);
  const declare = async (name: string, entitled = false, description = ''): Promise<void> => {
    const answer = await admin('PUT', `scopes/${encodeURIComponent(name)}`, { description, entitled });
    assert.equal(answer.status, 200, answer.text);
  };
  const entitle = async (...entitlements: string[]): Promise<void> => {
    const answer = await admin('PUT', `accounts/${user.account.id}/entitlements`, { entitlements });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual((answer.json as { entitlements: string[] }).entitlements, entitlements.toSorted());
  };
  const tryCreate = (scopes: readonly string[], nickname = scopes.join(' ')) =>
    app.call('POST', '/auth/api-keys', { headers, json: { nickname, scopes } });
  const create = async (...scopes: string[]): Promise<CreatedKey> => {
    const answer = await tryCreate(scopes);
    assert.equal(answer.status, 201, answer.text);
    return answer.json as CreatedKey;
  };
  const byOperator = async (...scopes: string[]): Promise<{ id: number; key: string }> => {
    const { apiKeys } = app.service.services;
    const { id, secret } = await apiKeys.create(operator, user.account.id, {
      nickname: `by ${scopes.join(' ')}`,
      scopes,
    });
    return { id, key: secret.reveal() };
  };
  const verify = async (credential: string, at: TestApp, more: object = {}): Promise<VerifyResult> =>
    (await at.call('POST', '/auth/verify', { headers: service, json: { credential, ...more } })).json as VerifyResult;
  /** As both instances return them, through each endpoint. */
  const scopesOf = async (key: string): Promise<readonly string[] | null> => {
    const found = new Set<string>();
    for (const at of [other, app]) {
      const result = await verify(key, at);
      assert.ok(result.valid);
      const scopes = result.scopes ?? [];
      found.add(scopes.join(' '));
      const forwarded = await at.call('GET', '/auth/forward', { headers: bearer(key) });
      found.add(forwarded.headers.get('x-keyreeve-scopes') ?? '');
      const form = { ...service, 'content-type': 'application/x-www-form-urlencoded' };
      const introspected = await at.call('POST', '/auth/introspect', { headers: form, body: `token=${key}` });
      found.add((introspected.json as { scope?: string }).scope ?? '');
    }
    assert.equal(found.size, 1, [...found].join(' / '));
    const [scopes = ''] = found;
    return scopes === '' ? [] : scopes.split(' ');
  };
  const dispose = async (): Promise<void> => {
    await other[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  };
  const made = { app, other, administrator, user, headers, admin, declare, entitle, tryCreate, create, byOperator };
  return { ...made, verify, scopesOf, [Symbol.asyncDispose]: dispose };
}

test('an account can grant declared scopes, and those with an entitlement only if it has it', async () => {
  await using at = await fixture();
  await at.declare('orders:read');
  await at.declare('reports:read', true);
  assert.deepEqual(assertRejected(await at.tryCreate(['orders:read', 'x', 'reports:read']), 'scope_not_entitled'), [
    '/scopes/1',
    '/scopes/2',
  ]);
  const { id } = await at.create('orders:read');
  const path = `/auth/api-keys/${id}`;
  const change = (scopes: string[]) => at.app.call('PATCH', path, { headers: at.headers, json: { scopes } });
  assert.deepEqual(assertRejected(await change(['orders:read', 'reports:read']), 'scope_not_entitled'), ['/scopes/1']);
  await at.entitle('reports:read');
  assert.equal((await change(['orders:read', 'reports:read'])).status, 200);
  await at.create('reports:read');
  await at.entitle();
  // The key has the scope, which is not in force: keeping it grants nothing.
  const kept = await change(['reports:read', 'orders:read']);
  assert.equal(kept.status, 200, kept.text);
  assert.deepEqual((kept.json as KeyDetails).scopes, ['orders:read']);
  const answer = await at.app.call('GET', '/auth/scopes', { headers: at.headers });
  assert.deepEqual(answer.json, {
    scopes: [
      { name: 'orders:read', description: '', mayGrant: true },
      { name: 'reports:read', description: '', mayGrant: false },
    ],
  });
});

test('an administrator’s own keys need declared scopes, too, and reserved scopes need none', async () => {
  await using at = await fixture();
  const headers = bearer(at.administrator.accessToken);
  const create = (scopes: string[]) =>
    at.app.call('POST', '/auth/api-keys', { headers, json: { nickname: scopes.join(' '), scopes } });
  assertRejected(await create(['orders:read']), 'scope_not_entitled');
  assert.equal((await create(['keyreeve:verify'])).status, 201);
});

testOnBoth(
  'an entitlement that is taken away is in force on no key of the account, on every instance and endpoint',
  async () => {
    await using at = await fixture();
    await at.declare('a', true);
    await at.declare('b', true);
    await at.entitle('a', 'b');
    const [one, two] = [await at.create('a', 'b'), await at.create('b')];
    const rotated = await at.app.call('POST', `/auth/api-keys/${one.id}/rotate`, { headers: at.headers });
    const current = (rotated.json as CreatedKey).key;
    assert.deepEqual(await at.scopesOf(one.key), ['a', 'b']);
    await at.entitle('b');
    for (const key of [one.key, current]) assert.deepEqual(await at.scopesOf(key), ['b'], 'also of a previous secret');
    assert.deepEqual(await at.scopesOf(two.key), ['b']);
    assert.deepEqual(await at.verify(current, at.other, { scopes: ['a'] }), {
      valid: false,
      code: 'insufficient_scope',
    });
    const refused = await at.other.call('GET', '/auth/forward?scope=a', { headers: bearer(current) });
    assertRejected(refused, 'insufficient_scope');
    await at.entitle();
    assert.deepEqual(await at.scopesOf(two.key), []);
    const events = (await listAuditEvents(at.app.db)).filter(({ action }) => action === 'account.entitlements_set');
    assert.deepEqual(
      events.map(({ details }) => JSON.parse(details ?? '') as unknown),
      [
        { entitlements: ['a', 'b'], removed: [] },
        { entitlements: ['b'], removed: ['a'] },
        { entitlements: [], removed: ['b'] },
      ],
    );
  },
);

testOnBoth('marking and deleting a scope apply to existing keys immediately, on every instance', async () => {
  await using at = await fixture();
  await at.declare('a');
  await at.declare('b');
  const { id, key } = await at.create('a', 'b');
  await at.declare('a', true);
  assert.deepEqual(await at.scopesOf(key), ['b']);
  await at.entitle('a');
  assert.deepEqual(await at.scopesOf(key), ['a', 'b']);
  assert.equal((await at.admin('DELETE', 'scopes/a')).status, 200);
  assert.deepEqual(await at.scopesOf(key), ['b'], 'a deletion withholds the scope in spite of the entitlement');
  const shown = await at.app.call('GET', `/auth/api-keys/${id}`, { headers: at.headers });
  assert.deepEqual((shown.json as KeyDetails).scopes, ['b']);
  for (const query of ['?view=full', '?view=full&limit=1']) {
    const listed = await at.other.call('GET', `/auth/api-keys${query}`, { headers: at.headers });
    assert.deepEqual((listed.json as { apiKeys: KeyDetails[] }).apiKeys[0]?.scopes, ['b'], query);
  }
  assertRejected(await at.admin('DELETE', 'scopes/a'), 'scope_not_found');
  assertRejected(await at.tryCreate(['a']), 'scope_not_entitled');
  await at.declare('a', true);
  assert.deepEqual(await at.scopesOf(key), ['a', 'b'], 'declared again');
});

test('scopes that were never declared stay in force on existing keys', async () => {
  await using at = await fixture();
  const { key } = await at.byOperator('old', 'new');
  await at.declare('new', true);
  assert.deepEqual(await at.scopesOf(key), ['old']);
});

test('without the setting, accounts grant any scope, and a verification does not read the catalogue', async () => {
  await using at = await fixture({ KEYREEVE_PUBLIC_URL: 'http://auth.localhost' });
  await at.declare('a', true);
  const { key } = await at.create('a', 'undeclared');
  assert.deepEqual(await at.scopesOf(key), ['a', 'undeclared']);
  const answer = await at.app.call('GET', '/auth/scopes', { headers: at.headers });
  assert.deepEqual(answer.json, { scopes: [{ name: 'a', description: '', mayGrant: true }] });
  const rename = (from: string, to: string) =>
    at.app.db.transaction((tx) => tx.run(sql(`test_rename_${from}`, `alter table ${from} rename to ${to}`)));
  await rename('scopes', 'hidden_scopes');
  assert.deepEqual(await at.scopesOf(key), ['a', 'undeclared']);
  await rename('hidden_scopes', 'scopes');
});

testOnBoth('the catalogue returns what was declared, and names with special characters work', async () => {
  await using at = await fixture();
  const name = 'https://example.com/orders.read?x=%41&[]{}';
  await at.declare(name, false, 'Größe');
  const { key } = await at.create(name);
  assert.deepEqual(await at.scopesOf(key), [name]);
  const read = await at.admin('GET', `scopes/${encodeURIComponent(name)}`);
  const scope = read.json as DeclaredScope;
  const at0 = new Date(at.app.clock.now()).toISOString();
  const expected = { name, description: 'Größe', entitled: false, createdAt: at0, updatedAt: at0, deletedAt: null };
  assert.deepEqual(scope, expected);
  // The same values again change nothing and have no event.
  const before = (await listAuditEvents(at.app.db)).length;
  await at.declare(name, false, 'Größe');
  assert.equal((await listAuditEvents(at.app.db)).length, before);
  assert.equal((await at.admin('DELETE', `scopes/${encodeURIComponent(name)}`)).status, 200);
  assert.deepEqual(await at.scopesOf(key), []);
  const list = await at.admin('GET', 'scopes');
  assert.deepEqual(
    (list.json as { scopes: DeclaredScope[] }).scopes.map(({ name: listed, deletedAt }) => [
      listed,
      deletedAt !== null,
    ]),
    [[name, true]],
  );
});

/** Requests of an administrator that are rejected: method, path, body, code and pointers. */
const bad: readonly (readonly [
  string,
  string,
  object | undefined,
  Parameters<typeof assertRejected>[1],
  readonly string[],
])[] = [
  ['GET', 'scopes/unknown', undefined, 'scope_not_found', []],
  ['DELETE', 'scopes/unknown', undefined, 'scope_not_found', []],
  ['GET', 'scopes/a%20b', undefined, 'scope_not_found', []],
  ['PUT', 'scopes/a%20b', { description: '', entitled: true }, 'scope_invalid', []],
  ['PUT', `scopes/${'a'.repeat(65)}`, { description: '', entitled: true }, 'scope_invalid', []],
  ['PUT', 'scopes/keyreeve%3Averify', { description: '', entitled: true }, 'scope_invalid', []],
  ['PUT', 'scopes/a', { description: '' }, 'invalid_request', ['/entitled']],
  ['PUT', 'scopes/a', { description: 'x'.repeat(257), entitled: true }, 'invalid_request', ['/description']],
  ...['\u0000', 'a\u001b[31m', '\u202egnp', '\ud800', 'a\nb'].map(
    (description) => ['PUT', 'scopes/a', { description, entitled: true }, 'invalid_request', ['/description']] as const,
  ),
  ['PUT', 'scopes/a', { description: '', entitled: 1 }, 'invalid_request', ['/entitled']],
  ['PUT', 'scopes/a', { description: '', entitled: true, more: 1 }, 'invalid_request', ['/more']],
  ['PUT', 'accounts/:id/entitlements', { entitlements: ['open'] }, 'invalid_request', ['/entitlements/0']],
  ['PUT', 'accounts/:id/entitlements', { entitlements: ['marked', 'x'] }, 'invalid_request', ['/entitlements/1']],
  ['PUT', 'accounts/:id/entitlements', { entitlements: ['deleted'] }, 'invalid_request', ['/entitlements/0']],
  ['PUT', 'accounts/:id/entitlements', { entitlements: ['a b'] }, 'invalid_request', ['/entitlements/0']],
  ['PUT', 'accounts/:id/entitlements', { entitlements: null }, 'invalid_request', ['/entitlements']],
  ['PUT', 'accounts/acc_unknown/entitlements', { entitlements: [] }, 'account_not_found', []],
];

test('bad changes of the catalogue and of entitlements are rejected and change nothing', async () => {
  await using at = await fixture();
  await at.declare('open');
  await at.declare('marked', true);
  await at.declare('deleted', true);
  await at.admin('DELETE', 'scopes/deleted');
  const before = (await listAuditEvents(at.app.db)).length;
  for (const [method, path, json, code, pointers] of bad) {
    const answer = await at.admin(method, path.replace(':id', at.user.account.id), json);
    assert.deepEqual(assertRejected(answer, code, `${method} ${path}`), pointers, `${method} ${path}`);
  }
  assert.equal((await listAuditEvents(at.app.db)).length, before);
});

test('an account that is not an administrator cannot change the catalogue or its entitlements', async () => {
  await using at = await fixture();
  const requests: readonly (readonly [string, string, object | undefined])[] = [
    ['GET', '/admin/scopes', undefined],
    ['PUT', '/admin/scopes/a', { description: '', entitled: false }],
    ['DELETE', '/admin/scopes/a', undefined],
    ['PUT', `/admin/accounts/${at.user.account.id}/entitlements`, { entitlements: [] }],
  ];
  for (const [method, path, json] of requests) {
    const options = { headers: at.headers, ...(json ? { json } : {}) };
    assertRejected(await at.app.call(method, path, options), 'administrator_required', path);
  }
});

test('a description that is too long is rejected on the command line, too', async () => {
  await using app = await newApp();
  const { scopeCatalogue } = app.service.services;
  const set = (length: number) => scopeCatalogue.set(operator, 'a', { description: 'é'.repeat(length) });
  await assert.rejects(set(257), { code: 'invalid_request' });
  assert.equal((await set(256)).description.length, 256);
});
