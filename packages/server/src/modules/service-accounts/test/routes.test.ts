/** The HTTP routes of service accounts: responses, invalid input, callers that are no managers. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { problemCode } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer, newApp, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';

const root = '/auth/service-accounts';
type Headers = Readonly<Record<string, string>>;
const of = ({ accessToken }: SignedIn): Headers => bearer(accessToken);

const send = (
  app: TestApp,
  headers: Headers,
  [method, path, json]: readonly [string, string, unknown?],
): Promise<Answered> => app.call(method, `${root}${path}`, { headers, ...(json === undefined ? {} : { json }) });

async function create(app: TestApp, headers: Headers, json: object): Promise<string> {
  const made = await send(app, headers, ['POST', '', json]);
  assert.equal(made.status, 201, made.text);
  return (made.json as { id: string }).id;
}

test('each request has the documented response, for a person and for a management key', async () => {
  await using app = await newApp();
  const ada = await app.signIn();
  const backend = await newBackend(app);
  const at = new Date(app.clock.now()).toISOString();
  const later = new Date(app.clock.now() + 1).toISOString();
  for (const [headers, managerId] of [
    [of(ada), ada.account.id],
    [backend.headers, backend.accountId],
  ] as const) {
    const made = await send(app, headers, ['POST', '', { name: 'Billing', externalId: 'tenant-7' }]);
    const { id } = made.json as { id: string };
    const shown = { id, name: 'Billing', externalId: 'tenant-7', creatorId: managerId, createdAt: at, updatedAt: at };
    assert.deepEqual([made.status, made.json, made.headers.get('location')], [201, shown, `${root}/${id}`]);
    assert.deepEqual((await send(app, headers, ['GET', `/${id}`])).json, shown);
    const page = { serviceAccounts: [shown], nextCursor: null };
    for (const query of ['?externalId=tenant-7', '?limit=1&externalId=tenant-7'])
      assert.deepEqual((await send(app, headers, ['GET', query])).json, page, query);
    const changed = { ...shown, name: 'Invoices', externalId: null, updatedAt: later };
    const patch = { name: 'Invoices', externalId: null };
    assert.deepEqual((await send(app, headers, ['PATCH', `/${id}`, patch])).json, changed);
    const managers = { managers: [{ accountId: managerId, addedAt: at }] };
    assert.deepEqual((await send(app, headers, ['GET', `/${id}/managers`])).json, managers);
    assert.equal((await send(app, headers, ['DELETE', `/${id}`])).status, 200);
    assert.equal(problemCode(await send(app, headers, ['DELETE', `/${id}`])), 'account_not_found');
  }
});

test('a manager adds and removes managers', async () => {
  await using app = await newApp();
  const [ada, eve] = [await app.signIn(), await app.signIn()];
  const id = await create(app, of(ada), { name: 'one' });
  const added = await send(app, of(ada), ['PUT', `/${id}/managers/${eve.account.id}`]);
  assert.deepEqual([added.status, Object.keys(added.json as object)], [200, ['accountId', 'addedAt']]);
  const { managers } = (await send(app, of(eve), ['GET', `/${id}/managers`])).json as { managers: unknown[] };
  assert.deepEqual([managers.length, managers[1]], [2, added.json]);
  assert.equal((await send(app, of(ada), ['DELETE', `/${id}/managers/${ada.account.id}`])).status, 200);
  assert.equal(problemCode(await send(app, of(ada), ['DELETE', `/${id}`])), 'account_not_found');
  assert.equal(problemCode(await send(app, of(eve), ['DELETE', `/${id}/managers/${eve.account.id}`])), 'last_manager');
  assert.equal((await send(app, of(eve), ['DELETE', `/${id}`])).status, 200);
});

test(
  'a management key cannot add a manager, who would stay after its deletion, or remove one',
  { tags: ['asvs:8.2.1'] },
  async () => {
    await using app = await newApp();
    const eve = await app.signIn();
    const backend = await newBackend(app);
    const path = `/${backend.serviceId}/managers`;
    const before = await send(app, backend.headers, ['GET', path]);
    for (const headers of [backend.headers, { 'x-api-key': backend.key }])
      for (const [method, target] of [
        ['PUT', eve.account.id],
        ['DELETE', backend.accountId],
      ] as const) {
        const answer = await send(app, headers, [method, `${path}/${target}`]);
        assert.deepEqual([answer.status, problemCode(answer)], [401, 'invalid_access_token'], method);
      }
    assert.deepEqual((await send(app, backend.headers, ['GET', path])).json, before.json);
    assert.equal(problemCode(await send(app, of(eve), ['GET', path])), 'account_not_found');
  },
);

const invalid: Readonly<Record<string, unknown>> = {
  'no object': [],
  'an unknown member': { name: 'x', email: 'ada@example.com' },
  'an id': { name: 'x', id: 'acc_x' },
  'the creator': { name: 'x', creatorId: 'acc_x' },
  'a name of another type': { name: 7 },
  'a null name': { name: null },
  'an external id of another type': { name: 'x', externalId: 7 },
  'an empty external id': { name: 'x', externalId: '' },
  'a long external id': { name: 'x', externalId: 'x'.repeat(limits.externalIdCharsMax + 1) },
  'a control character': { name: 'x', externalId: 'a\u0000b' },
};

test('invalid input is rejected with its place, and nothing is stored', async () => {
  await using app = await newApp();
  const ada = await app.signIn();
  const id = await create(app, of(ada), { name: 'one', externalId: '1' });
  const before = await listAuditEvents(app.db);
  for (const [what, body] of Object.entries(invalid))
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
    ] as const) {
      const answer = await send(app, of(ada), [method, path, body]);
      assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], `${method}: ${what}`);
    }
  for (const [method, path, body] of [
    ['POST', '', {}],
    ['POST', '', { externalId: '2' }],
    ['POST', '', { name: 'two', externalId: null }],
    ['PATCH', `/${id}`, {}],
  ] as const)
    assert.equal(problemCode(await send(app, of(ada), [method, path, body])), 'invalid_request', JSON.stringify(body));
  for (const name of ['', ' x', 'x '.repeat(40)]) {
    const answer = await send(app, of(ada), ['POST', '', { name }]);
    assert.equal(answer.status, 400, name);
  }
  for (const query of [
    'limit=0',
    'limit=101',
    'cursor=x',
    'externalId=',
    'externalId=%00',
    'name=one',
    'limit=1&limit=2',
  ])
    assert.equal((await send(app, of(ada), ['GET', `?${query}`])).status, 400, query);
  assert.deepEqual(await listAuditEvents(app.db), before);
});

test('for a caller that is no manager, a service account does not exist', async () => {
  await using app = await newApp();
  const [ada, eve] = [await app.signIn(), await app.signIn()];
  const backend = await newBackend(app);
  const id = await create(app, of(ada), { name: 'one', externalId: '1' });
  const before = await listAuditEvents(app.db);
  const requests = [
    ['GET', ''],
    ['PATCH', '', { name: 'two' }],
    ['DELETE', ''],
    ['GET', '/managers'],
    ['PUT', `/managers/${eve.account.id}`],
    ['DELETE', `/managers/${ada.account.id}`],
  ] as const;
  const others = [
    [of(eve), id],
    [backend.headers, id],
    [of(ada), 'acc_0000000000000000000000'],
    [of(ada), '%00'],
    [of(ada), ada.account.id],
    [of(ada), eve.account.id],
    [backend.headers, backend.accountId],
  ] as const;
  for (const [headers, target] of others)
    for (const [method, path, body] of requests) {
      // Management keys only read managers.
      if (headers === backend.headers && path.startsWith('/managers/')) continue;
      const answer = await send(app, headers, [method, `/${target}${path}`, body]);
      assert.deepEqual([answer.status, problemCode(answer)], [404, 'account_not_found'], `${method} ${target}${path}`);
    }
  assert.deepEqual((await send(app, of(eve), ['GET', '?externalId=1'])).json, {
    serviceAccounts: [],
    nextCursor: null,
  });
  assert.deepEqual(await listAuditEvents(app.db), before);
});

test('a person needs a recent sign-in to change managers and to delete a service account', async () => {
  await using app = await newApp();
  const [ada, eve] = [await app.signIn(), await app.signIn()];
  const id = await create(app, of(ada), { name: 'one' });
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  for (const [method, path] of [
    ['PUT', `/managers/${eve.account.id}`],
    ['DELETE', `/managers/${ada.account.id}`],
    ['DELETE', ''],
  ] as const)
    assert.equal(problemCode(await send(app, of(ada), [method, `/${id}${path}`])), 'reauth_required', method);
  assert.equal((await send(app, of(ada), ['PATCH', `/${id}`, { name: 'two' }])).status, 200);
});
