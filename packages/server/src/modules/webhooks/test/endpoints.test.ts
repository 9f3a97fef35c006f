/** Administration of endpoints of webhooks: what administrators read and change, and which fields are valid. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { basic, bearer, goodPassword, newApp } from '../../../../test-kit/new-app.ts';
import { create, read } from './endpoint-requests.ts';

const notTried = {
  waiting: 0,
  nextAttemptAt: null,
  failingSince: null,
  lastDeliveredAt: null,
  lastFailedAt: null,
  lastFailure: null,
};

test('endpoints are listed, read, disabled, enabled and deleted; the secret is never shown again', async () => {
  await using app = await newApp();
  const admin = await newAdministrator(app);
  const headers = bearer(admin.accessToken);
  const { secret, ...made } = await create(
    app,
    admin,
    'https://bücher.example/hook?x=1',
    'session.ended',
    'account.created',
  );
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const at = new Date(app.clock.now()).toISOString();
  const shown = {
    id: made.id,
    url: 'https://xn--bcher-kva.example/hook?x=1',
    events: ['account.created', 'session.ended'],
    createdAt: at,
    updatedAt: at,
    disabledAt: null,
  };
  assert.deepEqual(made, shown);
  const whole = { ...shown, ...notTried };
  const listed = await app.call('GET', '/admin/webhooks', { headers });
  assert.deepEqual(listed.json, { webhooks: [whole] });
  assert.deepEqual(await read(app, admin, made.id), whole);
  app.clock.advance({ seconds: 10 });
  const later = new Date(app.clock.now()).toISOString();
  for (const [verb, disabledAt] of [
    ['disable', later],
    ['disable', later],
    ['enable', null],
    ['enable', null],
  ] as const) {
    assert.equal((await app.call('POST', `/admin/webhooks/${made.id}/${verb}`, { headers })).status, 204);
    assert.deepEqual(await read(app, admin, made.id), { ...whole, updatedAt: later, disabledAt });
  }
  assert.equal((await app.call('DELETE', `/admin/webhooks/${made.id}`, { headers })).status, 204);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PATCH', ''],
    ['POST', '/disable'],
    ['POST', '/enable'],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
  ] as const) {
    const json = method === 'PATCH' ? { url: 'https://example.com/' } : undefined;
    const answer = await app.call(method, `/admin/webhooks/${made.id}${path}`, { headers, ...(json && { json }) });
    assertProblem(fromFetch(answer), 'webhook_not_found', `${method} ${path}`);
  }
  const actions = (await listAuditEvents(app.db)).filter(({ action }) => action.startsWith('webhook.'));
  assert.deepEqual(
    actions.map(({ actor, action, target }) => [actor, action, target]),
    ['created', 'disabled', 'enabled', 'deleted'].map((verb) => [
      `account:${admin.account.id}`,
      `webhook.${verb}`,
      made.id,
    ]),
  );
  assert.equal(app.logLines.join('').includes(secret), false);
});

test('the fields of an endpoint are validated', async () => {
  await using app = await newApp();
  const admin = await newAdministrator(app);
  const headers = bearer(admin.accessToken);
  const good = { url: 'https://example.com/', events: ['account.created'] };
  for (const json of [
    {},
    { url: good.url },
    { ...good, events: [] },
    { ...good, events: ['account.renamed'] },
    { ...good, events: ['account.created', 'account.created'] },
    { ...good, url: 7 },
    { ...good, url: '' },
    { ...good, url: `https://example.com/${'a'.repeat(2_000)}` },
    { ...good, secret: 'whsec_AAAA' },
    { ...good, id: 'whe_mine' },
    { ...good, disabledAt: null },
  ]) {
    const answer = await app.call('POST', '/admin/webhooks', { headers, json });
    assertProblem(fromFetch(answer), 'invalid_request', JSON.stringify(json).slice(0, 80));
  }
  assert.deepEqual((await app.call('GET', '/admin/webhooks', { headers })).json, { webhooks: [] });
  const before = await create(app, admin, good.url);
  for (const json of [
    {},
    { events: [] },
    { events: ['account.renamed'] },
    { url: null },
    { url: '' },
    { secret: 'whsec_AAAA' },
    { url: good.url, disabledAt: null },
  ]) {
    const answer = await app.call('PATCH', `/admin/webhooks/${before.id}`, { headers, json });
    assertProblem(fromFetch(answer), 'invalid_request', JSON.stringify(json));
  }
  for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://user:password@example.com/']) {
    const answer = await app.call('PATCH', `/admin/webhooks/${before.id}`, { headers, json: { url } });
    assertProblem(fromFetch(answer), 'webhook_url_refused', url);
  }
  const { secret: _, ...shown } = before;
  assert.deepEqual(await read(app, admin, before.id), { ...notTried, ...shown });
});

test('endpoints require an administrator, and their changes a recent sign-in', async () => {
  await using app = await newApp();
  const admin = await newAdministrator(app);
  const user = await app.signIn();
  const json = { url: 'https://example.com/', events: ['account.created'] };
  const { id } = await create(app, admin, json.url);
  const reads = [
    ['GET', '/admin/webhooks'],
    ['GET', `/admin/webhooks/${id}`],
  ] as const;
  const changes = [
    ['POST', '/admin/webhooks'],
    ['PATCH', `/admin/webhooks/${id}`],
    ['DELETE', `/admin/webhooks/${id}`],
    ...['disable', 'enable', 'rotate-secret', 'test'].map((verb) => ['POST', `/admin/webhooks/${id}/${verb}`] as const),
  ] as const;
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    app.call(method, path, {
      headers,
      ...(method === 'PATCH' || (path === '/admin/webhooks' && method === 'POST') ? { json } : {}),
    });
  for (const [method, path] of [...reads, ...changes]) {
    assertProblem(fromFetch(await ask(method, path, {})), 'missing_access_token', path);
    assertProblem(fromFetch(await ask(method, path, basic(admin.account.email, goodPassword))), 'invalid_access_token');
    assertProblem(fromFetch(await ask(method, path, bearer(user.accessToken))), 'administrator_required', path);
  }
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  for (const [method, path] of changes)
    assertProblem(fromFetch(await ask(method, path, bearer(admin.accessToken))), 'reauth_required', path);
  for (const [method, path] of reads)
    assert.equal((await ask(method, path, bearer(admin.accessToken))).status, 200, path);
});
