/** What administrators see and change of service accounts. */
import assert from 'node:assert/strict';
import { administer, detailOf, newAdministrator, newTarget, problemCode } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newApp, operator } from '../../../../test-kit/new-app.ts';

test('an administrator sees a service account without an email address, with its name and creator', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const target = await newTarget(app, 'ada@example.org');
  const { serviceAccounts } = app.service.services;
  await serviceAccounts.change(operator, target.serviceId, { externalId: 'tenant 7' });
  const shown = await detailOf(app, administrator, target.serviceId);
  assert.deepEqual(
    [shown.kind, shown.email, shown.name, shown.externalId, shown.creatorId, shown.hasPassword, shown.role],
    ['service', null, 'held', 'tenant 7', target.account.id, false, 'user'],
  );
  const list = async (query: string): Promise<unknown> =>
    (await administer(app, administrator, 'GET', `accounts?${query}`)).json;
  const found = { accounts: [{ id: target.serviceId, email: null }], nextCursor: null };
  for (const query of ['kind=service', `query=${target.serviceId}`, `query=${target.serviceId}&kind=service`]) {
    const { accounts, nextCursor } = (await list(query)) as typeof found;
    const entries = accounts.map(({ id, email }) => ({ id, email }));
    assert.deepEqual({ accounts: entries, nextCursor }, found, query);
  }
  assert.deepEqual(await list(`query=${target.serviceId}&kind=person`), { accounts: [], nextCursor: null });
  for (const creator of [target.account.id, 'Ada@Example.org']) {
    const ofCreator = (await list(`creatorId=${encodeURIComponent(creator)}`)) as typeof found;
    assert.deepEqual(
      ofCreator.accounts.map(({ id }) => id),
      [target.serviceId],
    );
  }
  assert.equal(problemCode(await administer(app, administrator, 'GET', 'accounts?creatorId=%00')), 'invalid_request');
  const others = [
    `creatorId=${administrator.account.id}`,
    'creatorId=acc_0000000000000000000000',
    'creatorId=nobody%40example.org',
    `query=${target.serviceId}&creatorId=${administrator.account.id}`,
  ];
  for (const query of others) assert.deepEqual(await list(query), { accounts: [], nextCursor: null }, query);
  // A page can end with a service account.
  const first = (await list('limit=1')) as { accounts: { id: string }[]; nextCursor: string };
  assert.equal(first.accounts[0]?.id, target.serviceId);
  const rest = (await list(`limit=100&cursor=${first.nextCursor}`)) as { accounts: { id: string }[] };
  assert.deepEqual(
    rest.accounts.map(({ id }) => id).toSorted(),
    [administrator.account.id, target.account.id].toSorted(),
  );
});

const session = 'ses_0000000000000000000000';
const forPeople: readonly (readonly [method: string, path: string, json?: unknown])[] = [
  ['POST', 'invite'],
  ['POST', 'reset-password'],
  ['POST', 'compromised', {}],
  ['POST', 'end-sessions'],
  ['POST', 'require-second-factor'],
  ['POST', 'waive-second-factor'],
  ['POST', 'remove-second-factor'],
  ['PUT', 'email', { email: 'new@example.com' }],
  ['PUT', 'role', { role: 'admin' }],
  ['PUT', 'role', { role: 'user' }],
  ['GET', 'sessions'],
  ['DELETE', `sessions/${session}`],
];

test('what only people have cannot be changed in a service account', async () => {
  await using app = await newApp({
    environment: { KEYREEVE_SMTP_URL: 'smtp://127.0.0.1:9', KEYREEVE_MAIL_FROM: 'a@b.c' },
  });
  const administrator = await newAdministrator(app);
  const { serviceId } = await newTarget(app);
  const before = await detailOf(app, administrator, serviceId);
  for (const [method, path, json] of forPeople) {
    const answer = await administer(app, administrator, method, `accounts/${serviceId}/${path}`, json);
    assert.deepEqual([answer.status, problemCode(answer)], [409, 'service_account'], `${method} ${path}`);
  }
  assert.deepEqual(await detailOf(app, administrator, serviceId), before);
});

test('an administrator disables, limits, enables and deletes a service account as any account', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { account, serviceId } = await newTarget(app);
  const change = async (method: string, path: string, json?: unknown): Promise<number> =>
    (await administer(app, administrator, method, `accounts/${serviceId}${path}`, json)).status;
  assert.equal(await change('POST', '/disable'), 200);
  assert.equal(await change('POST', '/enable'), 200);
  assert.equal(await change('PUT', '/limits', { quota: { limit: 1, per: 'day' } }), 200);
  assert.equal(await change('PUT', '/entitlements', { entitlements: [] }), 200);
  assert.equal(await change('POST', '/revoke-keys'), 200);
  assert.equal(await change('DELETE', `/managers/${account.id}`), 200);
  assert.equal(await change('PUT', `/managers/${administrator.account.id}`), 200);
  assert.equal(await change('GET', '/managers'), 200);
  assert.equal(await change('DELETE', ''), 200);
  assert.equal(await change('GET', ''), 404);
});
