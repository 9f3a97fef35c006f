/** The scopes that keys can get in a portal session: at a creation, at a change, and at a rotation. */
import assert from 'node:assert/strict';
import type { CreatedKey, KeyDetails } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend, type OpenPortal } from '../../../../test-kit/portal.ts';

const path = '/auth/portal/api-keys';

const catalogue = { KEYREEVE_SCOPES: 'catalogue' };

/** The requests of one portal session. */
function client(app: TestApp, { headers }: Pick<OpenPortal, 'headers'>) {
  const send = (method: string, below: string, json?: object): Promise<Answered> =>
    app.call(method, path + below, { headers, ...(json && { json }) });
  return {
    create: (nickname: string, scopes: readonly string[]) => send('POST', '', { nickname, scopes }),
    change: (id: number, json: object) => send('PATCH', `/${id}`, json),
    rotate: (id: number, json: object = { endPrevious: true, overlapSeconds: 0 }) =>
      send('POST', `/${id}/rotate`, json),
    endPrevious: (id: number) => send('DELETE', `/${id}/previous`),
    delete: (id: number) => send('DELETE', `/${id}`),
  };
}

function assertDone(answer: Answered): void {
  assert.ok(answer.status < 300, answer.text);
}

/** The operator gives a key scopes that the session cannot give: the session gets no secret of it, and may end it. */
async function assertBeyond(app: TestApp, serviceId: string, session: OpenPortal, scopes: readonly string[]) {
  const { create, change, rotate, endPrevious, delete: remove } = client(app, session);
  const { apiKeys, keyChanges } = app.service.services;
  const { id } = await apiKeys.create(operator, serviceId, { nickname: 'of the operator', scopes });
  await keyChanges.rotate(operator, serviceId, id, { overlapSeconds: 60, endPrevious: false });
  const what = scopes.join(' ');
  const beyond = await create('beyond', scopes);
  assert.deepEqual(assertRejected(beyond, 'scope_not_entitled', what), [`/scopes/${scopes.length - 1}`]);
  const changed = await change(id, { scopes, expiresAt: '2036-01-31T00:00:00Z' });
  assert.deepEqual(assertRejected(changed, 'scope_not_entitled', what), [`/scopes/${scopes.length - 1}`]);
  for (const json of [{ endPrevious: true }, { endCurrent: true }])
    assert.deepEqual(assertRejected(await rotate(id, json), 'scope_not_entitled', what), []);
  assertDone(await change(id, { nickname: 'renamed', addresses: ['203.0.113.0/24'] }));
  assertDone(await endPrevious(id));
  assertDone(await change(id, { scopes: scopes.slice(0, -1) }));
  assertDone(await rotate(id));
  assertDone(await remove(id));
}

test('a portal session gives no scope except its own, and hands out no secret with another one', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const session = await backend.open({ scopes: ['orders:read', 'orders:write'] });
  const { create, change, rotate } = client(app, session);
  const created = await create('worker', ['orders:read', 'orders:write']);
  assertDone(created);
  const { id } = created.json as CreatedKey;
  assertDone(await rotate(id));
  const changed = await change(id, { scopes: ['orders:write'] });
  assert.deepEqual((changed.json as KeyDetails).scopes, ['orders:write']);
  await assertBeyond(app, backend.serviceId, session, ['orders:read', 'reports:read']);
  const none = await backend.open({ scopes: [] });
  await assertBeyond(app, backend.serviceId, none, ['orders:read']);
  for (const reserved of ['keyreeve:verify', 'keyreeve:keys'])
    for (const answer of [await create('reserved', [reserved]), await change(id, { scopes: [reserved] })])
      assertRejected(answer, 'reserved_scope', reserved);
});

test('a portal session without scopes gives what its service account may give', async () => {
  await using open = await newApp();
  const any = await newPortalBackend(open);
  const session = await any.open();
  const created = await client(open, session).create('worker', ['anything']);
  assertDone(await client(open, session).rotate((created.json as CreatedKey).id));
  assertRejected(await client(open, session).create('reserved', ['keyreeve:keys']), 'reserved_scope');

  await using app = await newApp({ environment: catalogue });
  const { scopeCatalogue } = app.service.services;
  const backend = await newPortalBackend(app);
  await scopeCatalogue.set(operator, 'orders:read', {});
  await scopeCatalogue.set(operator, 'reports:read', { entitled: true });
  const limited = await backend.open();
  await assertBeyond(app, backend.serviceId, limited, ['orders:read', 'reports:read']);
  await assertBeyond(app, backend.serviceId, limited, ['orders:read', 'never:declared']);
});

test('a scope that the service account loses is no longer a scope of its open portal sessions', async () => {
  await using app = await newApp({ environment: catalogue });
  const { entitlements, scopeCatalogue } = app.service.services;
  const backend = await newPortalBackend(app);
  await scopeCatalogue.set(operator, 'orders:read', {});
  await scopeCatalogue.set(operator, 'reports:read', { entitled: true });
  await entitlements.set(operator, backend.serviceId, ['reports:read']);
  const session = await backend.open({ scopes: ['orders:read', 'reports:read'] });
  const { create, change, rotate, delete: remove } = client(app, session);
  const created = await create('worker', ['orders:read', 'reports:read']);
  assertDone(created);
  const { id } = created.json as CreatedKey;
  assertDone(await rotate(id));

  const lose = [
    () => entitlements.set(operator, backend.serviceId, []),
    () => scopeCatalogue.delete(operator, 'reports:read'),
  ];
  for (const [index, lost] of lose.entries()) {
    await entitlements.set(operator, backend.serviceId, ['reports:read']);
    assertDone(await rotate(id));
    await lost();
    const what = `loss ${index}`;
    assertRejected(await rotate(id), 'scope_not_entitled', what);
    assertRejected(await create('another', ['reports:read']), 'scope_not_entitled', what);
    // A key that has the scope cannot get it again either.
    const changed = await change(id, { scopes: ['reports:read', 'orders:read'] });
    assertRejected(changed, 'scope_not_entitled', what);
    assertDone(await change(id, { expiresAt: null }));
    app.clock.advance({ seconds: 60 });
  }
  assertDone(await change(id, { scopes: ['orders:read'] }));
  assertDone(await rotate(id));
  assertDone(await remove(id));
});
