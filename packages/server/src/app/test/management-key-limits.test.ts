/** Limits of service accounts that a management key sets, and the bounds of its own requests. */
import assert from 'node:assert/strict';
import { limits as contractLimits } from '@keyreeve/contract';
import { sql } from '../../foundation/database/sql.ts';
import { holdLists } from '../../../test-kit/held-lists.ts';
import { listAuditEvents } from '../../../test-kit/audit-log.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../test-kit/key-client.ts';
import { bearer, newApp, operator } from '../../../test-kit/new-app.ts';
import { newBackend } from '../../../test-kit/service-accounts.ts';

test('a management key sets the limits that all keys of a service account share', async () => {
  await using app = await newApp();
  const { headers, path, serviceId, accountId, keyId } = await newBackend(app);
  const { secret } = await app.service.services.apiKeys.create(operator, serviceId, { nickname: 'worker' });
  const set = (json: object, below = path) => app.call('PUT', `${below}/limits`, { headers, json });
  const quota = { limit: 1, per: 'ever' };
  const { json } = await set({ quota });
  assert.deepEqual(json, { limits: { rate: null, quota }, quotaUse: { used: 0, resetsAt: null } });
  const statuses = [];
  for (let count = 0; count < 2; count++)
    statuses.push((await app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status);
  assert.deepEqual(statuses, [200, 429]);
  assert.deepEqual((await set({})).json, { limits: null, quotaUse: null });
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'account.limits_set');
  assert.deepEqual(
    events.map(({ actor, accountId: of }) => [actor, of]),
    [1, 2].map(() => [`key:${keyId}`, serviceId]),
  );

  const stranger = await app.createAccount();
  for (const id of [accountId, stranger.id, 'acc_unknown'])
    assertRejected(await set({}, `/auth/service-accounts/${id}`), 'account_not_found', id);
  const tooLarge = { rate: { limit: 1, windowSeconds: 1, burst: 2 } };
  assert.deepEqual(assertRejected(await set(tooLarge), 'invalid_request'), ['/rate/burst']);
});

const exhaust = sql('test_exhaust_buckets', `update rate_limit_buckets set count = 1000000`);

test('the creations and changes of a management key are counted in an hour, except disabling and deleting', async () => {
  await using app = await newApp();
  const { headers, path } = await newBackend(app);
  const create = (nickname: string) => app.call('POST', `${path}/api-keys`, { headers, json: { nickname } });
  const { id } = (await create('first')).json as { id: number };
  const at = `${path}/api-keys/${id}`;
  assert.equal((await app.call('PATCH', at, { headers, json: { nickname: 'renamed' } })).status, 200);
  await app.db.transaction((tx) => tx.run(exhaust));
  const rejected = await create('second');
  assertRejected(rejected, 'too_many_creations');
  const quota = contractLimits.managedCreationsPerHourMax;
  assert.equal(rejected.headers.get('ratelimit-policy'), `"creations";q=${quota};w=3600`);
  for (const [method, target, json] of [
    ['PATCH', at, { nickname: 'again' }],
    ['POST', `${at}/rotate`, {}],
    ['PUT', `${path}/limits`, { quota: { limit: 1, per: 'day' } }],
    ['PUT', `${path}/entitlements`, { entitlements: [] }],
  ] as const)
    assertRejected(await app.call(method, target, { headers, json }), 'too_many_changes', target);
  assert.equal((await app.call('PATCH', at, { headers, json: { disabled: true } })).status, 200);
  assert.equal((await app.call('DELETE', at, { headers })).status, 200);
});

test('requests in progress are bounded per management key and per account that owns it', async () => {
  await using app = await newApp({ requestBounds: { credential: 1, account: 2, range: 100 } });
  const { headers, path, accountId, key } = await newBackend(app);
  const { apiKeys } = app.service.services;
  const other = async (nickname: string): Promise<{ authorization: string }> =>
    bearer((await apiKeys.create(operator, accountId, { nickname, scopes: ['keyreeve:keys'] })).secret.reveal());
  const [second, third] = [await other('second'), await other('third')];
  using lists = holdLists(app);
  const list = (of: Readonly<Record<string, string>>) => app.call('GET', `${path}/api-keys`, { headers: of });
  const read = (of: Readonly<Record<string, string>>) => app.call('GET', path, { headers: of });
  const first = await lists.begin(() => list(headers));
  assertRejected(await read({ 'x-api-key': key }), 'too_many_in_progress');
  const next = await lists.begin(() => list(second));
  assertRejected(await read(third), 'too_many_in_progress');
  lists.finish();
  assert.deepEqual([(await first.answer).status, (await next.answer).status], [200, 200]);
  for (const caller of [headers, second, third]) assert.equal((await list(caller)).status, 200);
});
