/** A portal session manages the keys of its own service account, and none with a reserved scope. */
import assert from 'node:assert/strict';
import { portalKeyRoutes, type CreatedKey, type ListedKeyFull } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend, type OpenPortal, type PortalBackend } from '../../../../test-kit/portal.ts';

const path = '/auth/portal/api-keys';

const bodies: Readonly<Record<string, object>> = {
  changePortalKey: { nickname: 'mine', expiresAt: null },
  rotatePortalKey: { endPrevious: true },
};

/** Sends each request of one key. */
async function assertHidden(app: TestApp, { headers }: OpenPortal, id: number, what: string): Promise<void> {
  for (const route of portalKeyRoutes.filter((one) => one.path.includes(':id'))) {
    const json = bodies[route.id];
    const answer = await app.call(route.method, route.path.replace(':id', String(id)), {
      headers,
      ...(json && { json }),
    });
    assertRejected(answer, 'key_not_found', `${route.id} ${what}`);
  }
}

/** Another service account of the same management key. */
async function addTenant(app: TestApp, { headers }: PortalBackend): Promise<{ id: string; externalId: string }> {
  const json = { name: 'second tenant', externalId: 'second tenant' };
  const created = await app.call('POST', '/auth/service-accounts', { headers, json });
  assert.equal(created.status, 201, created.text);
  return created.json as { id: string; externalId: string };
}

const listed = async (app: TestApp, { headers }: OpenPortal, query: string): Promise<KeyListBody> => {
  const answer = await app.call('GET', path + query, { headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as KeyListBody;
};
type KeyListBody = {
  readonly apiKeys: readonly ListedKeyFull[];
  readonly nextCursor?: string | null;
  readonly total?: unknown;
};

/** All lists that a session can request. */
const queries = [
  '',
  '?view=full',
  '?limit=10',
  '?search=worker',
  '?state=active',
  '?sort=-lastUsed',
  '?sort=nickname',
  '?usage=7d&view=full',
];

test('a portal session neither sees nor changes keys of other accounts', async () => {
  await using app = await newApp();
  const [backend, stranger] = [await newPortalBackend(app), await newPortalBackend(app)];
  const { id: secondId, externalId } = await addTenant(app, backend);
  const { apiKeys } = app.service.services;
  const [session, other] = [await backend.open(), await backend.open({ externalId })];
  const { id, secret } = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker' });
  const { id: ofOther } = await apiKeys.create(operator, secondId, { nickname: 'worker' });
  const { id: ofStranger } = await apiKeys.create(operator, stranger.serviceId, { nickname: 'worker' });
  const before = await listAuditEvents(app.db);
  for (const query of queries) {
    assert.deepEqual(
      (await listed(app, session, query)).apiKeys.map((key) => key.id),
      [id],
      query,
    );
    assert.deepEqual(
      (await listed(app, other, query)).apiKeys.map((key) => key.id),
      [ofOther],
      query,
    );
  }
  for (const [keyId, what] of [
    [ofOther, 'of another service account'],
    [ofStranger, 'of a service account of another owner'],
    [backend.keyId, 'the management key of the session'],
    [1, 'without a key'],
  ] as const)
    await assertHidden(app, session, keyId, what);
  await assertHidden(app, other, id, 'the other way round');
  assert.deepEqual(await listAuditEvents(app.db), before);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status, 200);
});

test('a key with a reserved scope does not exist for a portal session', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const session = await backend.open();
  const { apiKeys, keyChanges } = app.service.services;
  const { id } = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker', scopes: ['orders:read'] });
  const scopes = ['orders:read', 'keyreeve:verify'];
  const hidden = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker that verifies', scopes });
  await keyChanges.rotate(operator, backend.serviceId, hidden.id, { overlapSeconds: 60, endPrevious: false });
  // Not reserved: only a prefix of the scope is.
  const similar = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker 2', scopes: ['a:keyreeve:b'] });
  const before = await listAuditEvents(app.db);
  for (const query of queries) {
    const { apiKeys: keys } = await listed(app, session, query);
    assert.deepEqual(new Set(keys.map((key) => key.id)), new Set([id, similar.id]), query);
  }
  assert.deepEqual((await listed(app, session, '?total=true&limit=1')).total, { count: 2, isExact: true });
  const pages = [];
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
    const page = await listed(app, session, `?limit=1${cursor && `&cursor=${cursor}`}`);
    pages.push(page.apiKeys.map((key) => key.id));
    cursor = page.nextCursor;
  }
  assert.deepEqual(new Set(pages.flat()), new Set([id, similar.id]));
  assert.equal(pages.length, 2, 'one key on each page');
  await assertHidden(app, session, hidden.id, 'with a reserved scope');
  assert.deepEqual(await listAuditEvents(app.db), before);
  // Its nickname is taken.
  const json = { nickname: 'worker that verifies' };
  assertRejected(await app.call('POST', path, { headers: session.headers, json }), 'nickname_taken');
});

test('a portal session sees no metadata and sets none, and creates and rotates no public keys', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const { headers } = await backend.open();
  const { apiKeys } = app.service.services;
  const metadata = { plan: 'internal' };
  const { id } = await apiKeys.create(operator, backend.serviceId, { nickname: 'worker', metadata });
  const shown = await app.call('GET', `${path}/${id}`, { headers });
  const changed = await app.call('PATCH', `${path}/${id}`, { headers, json: { nickname: 'renamed' } });
  for (const { status, text } of [shown, changed]) {
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /metadata|internal/);
  }
  for (const json of [
    { nickname: 'a', metadata },
    { nickname: 'a', sha256: 'a'.repeat(64) },
    { nickname: 'a', publicKey: {} },
  ])
    assertRejected(await app.call('POST', path, { headers, json }), 'invalid_request', JSON.stringify(json));
  for (const json of [{ metadata: null }, { disabled: true }, { disabled: false }])
    assertRejected(
      await app.call('PATCH', `${path}/${id}`, { headers, json }),
      'invalid_request',
      JSON.stringify(json),
    );
  for (const json of [{ publicKey: {} }, { trust: {} }])
    assertRejected(await app.call('POST', `${path}/${id}/rotate`, { headers, json }), 'invalid_request');
});

test('the keys of a portal session count for its service account, and for no other account', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CREATIONS_PER_MINUTE_MAX: '2' } });
  const backend = await newPortalBackend(app);
  const { id: secondId, externalId } = await addTenant(app, backend);
  const session = await backend.open();
  const create = (of: Pick<OpenPortal, 'headers'>, nickname: string) =>
    app.call('POST', path, { headers: of.headers, json: { nickname } });
  const first = await create(session, 'first');
  assert.equal(first.status, 201, first.text);
  const { id } = first.json as CreatedKey;
  assert.equal((await app.call('POST', `${path}/${id}/rotate`, { headers: session.headers })).status, 200);
  // Another session of the same service account.
  const again = await create(await backend.open(), 'third');
  assertRejected(again, 'too_many_creations');
  assert.ok(Number(again.headers.get('retry-after')) > 0);
  const other = await backend.open({ externalId });
  assert.equal((await create(other, 'first')).status, 201);
  assert.equal((await app.service.services.apiKeys.list(secondId)).length, 1);
  const managed = { headers: backend.headers, json: { nickname: 'managed' } };
  assert.equal((await app.call('POST', `${backend.path}/api-keys`, managed)).status, 201);
  app.clock.advance({ seconds: 60 });
  assert.equal((await create(session, 'third')).status, 201);
});
