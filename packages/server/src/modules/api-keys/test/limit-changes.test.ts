/** Limits in the creation and change of a key, and their part of its view. */
import assert from 'node:assert/strict';
import type { CreatedKey, KeyDetails, Problem } from '@keyreeve/contract';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected, newKeyClient } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const rate = { limit: 10, windowSeconds: 60 };
const quota = { limit: 100, per: 'month' };

/** With the pointer of each error. */
const badLimits: Readonly<Record<string, readonly [limits: unknown, ...pointers: string[]]>> = {
  text: ['{}', '/limits'],
  'an array': [[], '/limits'],
  'a number': [5, '/limits'],
  'an unknown member': [{ burst: 1 }, '/limits/burst'],
  'a rate as a number': [{ rate: 10 }, '/limits/rate'],
  'a rate as an array': [{ rate: [10, 60] }, '/limits/rate'],
  'an empty rate': [{ rate: {} }, '/limits/rate/limit', '/limits/rate/windowSeconds'],
  'a rate without a window': [{ rate: { limit: 1 } }, '/limits/rate/windowSeconds'],
  'a rate of 0': [{ rate: { ...rate, limit: 0 } }, '/limits/rate/limit'],
  'a negative rate': [{ rate: { ...rate, limit: -1 } }, '/limits/rate/limit'],
  'a fraction': [{ rate: { ...rate, limit: 1.5 } }, '/limits/rate/limit'],
  'a rate as text': [{ rate: { ...rate, limit: '10' } }, '/limits/rate/limit'],
  'a rate of more than a million': [{ rate: { ...rate, limit: 1_000_001 } }, '/limits/rate/limit'],
  'a rate of 2^53': [{ rate: { ...rate, limit: 2 ** 53 } }, '/limits/rate/limit'],
  'no rate': [{ rate: { ...rate, limit: null } }, '/limits/rate/limit'],
  'a window of 0': [{ rate: { ...rate, windowSeconds: 0 } }, '/limits/rate/windowSeconds'],
  'a window of more than a day': [{ rate: { ...rate, windowSeconds: 86_401 } }, '/limits/rate/windowSeconds'],
  'a burst of 0': [{ rate: { ...rate, burst: 0 } }, '/limits/rate/burst'],
  'a burst above the limit': [{ rate: { ...rate, burst: 11 } }, '/limits/rate/burst'],
  'a burst of null': [{ rate: { ...rate, burst: null } }, '/limits/rate/burst'],
  'an unknown member of the rate': [{ rate: { ...rate, per: 'day' } }, '/limits/rate/per'],
  'a quota of 0': [{ quota: { ...quota, limit: 0 } }, '/limits/quota/limit'],
  'a negative quota': [{ quota: { ...quota, limit: -1 } }, '/limits/quota/limit'],
  'a fraction of a quota': [{ quota: { ...quota, limit: 0.5 } }, '/limits/quota/limit'],
  'a quota of more than 10^12': [{ quota: { ...quota, limit: 1e12 + 1 } }, '/limits/quota/limit'],
  'a quota of 2^53': [{ quota: { ...quota, limit: 2 ** 53 } }, '/limits/quota/limit'],
  'a quota without a period': [{ quota: { limit: 5 } }, '/limits/quota/per'],
  'an unknown period': [{ quota: { ...quota, per: 'week' } }, '/limits/quota/per'],
  'a period in another case': [{ quota: { ...quota, per: 'Day' } }, '/limits/quota/per'],
  'an unknown member of the quota': [{ quota: { ...quota, used: 0 } }, '/limits/quota/used'],
  'a valid rate beside a bad quota': [{ rate, quota: { limit: 5 } }, '/limits/quota/per'],
};

test('invalid limits create no key, and change nothing of a key', { tags: ['asvs:2.2.1', 'asvs:2.3.3'] }, async () => {
  await using client = await newKeyClient({}, { limits: { rate, quota } });
  const { app, user } = client;
  const list = async () => (await app.call('GET', '/auth/api-keys', { headers: bearer(user.accessToken) })).json;
  const before = [await client.read(), await list(), await listAuditEvents(app.db)];
  for (const [what, [limits, ...pointers]] of Object.entries(badLimits)) {
    const json = { nickname: 'another', limits };
    const created = await app.call('POST', '/auth/api-keys', { headers: bearer(user.accessToken), json });
    assert.deepEqual(assertRejected(created, 'invalid_request', what), pointers, what);
    const changed = await client.send('PATCH', '', { disabled: true, limits });
    assert.deepEqual(assertRejected(changed, 'invalid_request', what), pointers, what);
  }
  const badMember = await client.send('PATCH', '', { limits: null, addresses: [] });
  assert.deepEqual(assertRejected(badMember, 'invalid_request'), ['/addresses']);
  assert.deepEqual([await client.read(), await list(), await listAuditEvents(app.db)], before);
});

test('the error for a burst above the limit states the limit', async () => {
  await using client = await newKeyClient();
  const answer = await client.send('PATCH', '', { limits: { rate: { ...rate, burst: 11 } } });
  const { errors }: Problem = assertProblem(fromFetch(answer), 'invalid_request');
  assert.deepEqual(errors, [
    { pointer: '/limits/rate/burst', detail: 'Expected at most the limit, 10.', code: 'too_large', limit: 10 },
  ]);
});

test('the creation of a key with limits has the same response, and its view shows the limits', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const sent: readonly (readonly [limits: unknown, shown: unknown])[] = [
    [{ rate }, { rate: { ...rate, burst: 10 }, quota: null }],
    [
      { rate: { ...rate, burst: 1 }, quota },
      { rate: { ...rate, burst: 1 }, quota },
    ],
    [
      { rate: { limit: 1_000_000, windowSeconds: 86_400 }, quota: { limit: 1e12, per: 'ever' } },
      { rate: { limit: 1_000_000, windowSeconds: 86_400, burst: 1_000_000 }, quota: { limit: 1e12, per: 'ever' } },
    ],
    [
      { rate: null, quota: { limit: 1, per: 'day' } },
      { rate: null, quota: { limit: 1, per: 'day' } },
    ],
    [{ rate: null }, null],
    [{}, null],
    [null, null],
  ];
  for (const [index, [limits, shown]] of sent.entries()) {
    const json = { nickname: `key ${index}`, limits };
    const created = await app.call('POST', '/auth/api-keys', { headers, json });
    assert.equal(created.status, 201, created.text);
    assert.deepEqual(Object.keys(created.json as object), ['id', 'nickname', 'key', 'createdAt', 'updatedAt']);
    const read = await app.call('GET', `/auth/api-keys/${(created.json as CreatedKey).id}`, { headers });
    assert.deepEqual((read.json as KeyDetails).limits, shown, JSON.stringify(limits));
  }
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'api_key.created');
  assert.deepEqual(
    events.map(({ details }) => JSON.parse(details ?? '') as unknown),
    sent.map(([, limits], index) => {
      const plain = { nickname: `key ${index}`, scopes: [] };
      return limits === null ? plain : { ...plain, limits };
    }),
  );
});

test('a change replaces the limits that it names, and null removes them', async () => {
  await using client = await newKeyClient();
  const steps: readonly (readonly [sent: unknown, shown: unknown])[] = [
    [{ rate: { ...rate, burst: 5 } }, { rate: { ...rate, burst: 5 }, quota: null }],
    [{ quota }, { rate: { ...rate, burst: 5 }, quota }],
    // A burst is not kept from the limit before.
    [{ rate: { limit: 20, windowSeconds: 1 } }, { rate: { limit: 20, windowSeconds: 1, burst: 20 }, quota }],
    [{ rate: null }, { rate: null, quota }],
    [{}, { rate: null, quota }],
    [{ quota: null }, null],
    [{ rate: null, quota: null }, null],
    [
      { rate, quota },
      { rate: { ...rate, burst: 10 }, quota },
    ],
    [null, null],
  ];
  let expected: unknown = null;
  for (const [limits, shown] of steps) {
    const eventsBefore = await listAuditEvents(client.app.db);
    const { updatedAt: updatedBefore } = await client.read();
    client.app.clock.advance({ seconds: 1 });
    const changed = await client.change({ limits });
    assert.deepEqual(changed.limits, shown, JSON.stringify(limits));
    assert.deepEqual(await client.read(), changed);
    const [event, ...others] = (await listAuditEvents(client.app.db)).slice(eventsBefore.length);
    assert.deepEqual(others, []);
    if (JSON.stringify(expected) === JSON.stringify(shown)) {
      assert.deepEqual([event, changed.updatedAt], [undefined, updatedBefore], 'nothing changed');
    } else {
      assert.equal(event?.action, 'api_key.updated');
      const details = { nickname: 'worker', changed: ['limits'], narrowed: [], limitsBefore: expected, limits: shown };
      assert.deepEqual(JSON.parse(event?.details ?? ''), details);
    }
    expected = shown;
  }
});

test('a rotation, a disabling and another change keep the limits and the used quota of a key', async () => {
  await using client = await newKeyClient({}, { limits: { quota: { limit: 3, per: 'ever' } } });
  assert.deepEqual((await client.read()).quotaUse, { used: 0, resetsAt: null });
  for (const status of [200, 200]) assert.equal(await client.statusOf(client.key), status);
  const expected = [
    { rate: null, quota: { limit: 3, per: 'ever' } },
    { used: 2, resetsAt: null },
  ];
  const shown = ({ limits, quotaUse }: KeyDetails): unknown[] => [limits, quotaUse];
  const { key } = await client.rotate();
  for (const json of [{ disabled: true }, { disabled: false }, { nickname: 'other', metadata: { a: 1 } }])
    assert.deepEqual(shown(await client.change(json)), expected);
  assert.equal(await client.statusOf(key), 200);
  assert.equal(await client.statusOf(client.key), 429, 'the previous secret has the same quota');
});

testOnBoth('the used quota is shown by period, and stays when the quota is removed and set again', async () => {
  // The time is 2026-11-21T09:30:00Z.
  await using client = await newKeyClient({}, { limits: { quota: { limit: 2, per: 'day' } } });
  const use = async (): Promise<KeyDetails['quotaUse']> => (await client.read()).quotaUse;
  assert.deepEqual(await use(), { used: 0, resetsAt: '2026-11-22T00:00:00.000Z' });
  for (const status of [200, 200, 429]) assert.equal(await client.statusOf(client.key), status);
  assert.deepEqual(await use(), { used: 2, resetsAt: '2026-11-22T00:00:00.000Z' });
  assert.equal((await client.change({ limits: { quota: null } })).quotaUse, null);
  assert.equal(await client.statusOf(client.key), 200);
  const raised = await client.change({ limits: { quota: { limit: 3, per: 'day' } } });
  assert.equal(raised.quotaUse?.used, 2);
  for (const status of [200, 429]) assert.equal(await client.statusOf(client.key), status);
  await client.advance(15 * 3_600);
  assert.deepEqual(await use(), { used: 0, resetsAt: '2026-11-23T00:00:00.000Z' });
});

const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;

testOnBoth('changed limits apply to the next verification on every instance', async () => {
  await using place = await newPlace();
  const environment = { KEYREEVE_PUBLIC_URL: 'http://auth.localhost' };
  await using other = await newApp({ place, environment });
  await using client = await newKeyClient({ place, environment });
  const instances = [client.app, other];
  const statuses = async (): Promise<number[]> => Promise.all(instances.map((app) => statusOf(app, client.key)));
  assert.deepEqual(await statuses(), [200, 200]);
  await client.change({ limits: { quota: { limit: 2, per: 'ever' } } });
  assert.deepEqual(await statuses(), [200, 200]);
  assert.deepEqual(await statuses(), [429, 429]);
  await client.change({ limits: { quota: { limit: 1_000, per: 'ever' } } });
  assert.deepEqual(await statuses(), [200, 200]);
  await client.change({ limits: { quota: { limit: 1, per: 'ever' } } });
  assert.deepEqual(await statuses(), [429, 429]);
  await client.change({ limits: null });
  assert.deepEqual(await statuses(), [200, 200]);
});

testOnBoth('concurrent changes of different limits all apply', async () => {
  await using client = await newKeyClient();
  const changes = Array.from({ length: 16 }, (_, index) =>
    whenAvailable(() => client.send('PATCH', '', { limits: index % 2 === 0 ? { rate } : { quota } })),
  );
  await Promise.all(changes);
  assert.deepEqual((await client.read()).limits, { rate: { ...rate, burst: 10 }, quota });
  const events = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'api_key.updated');
  assert.equal(events.length, 2, 'the others changed nothing');
});

test('limits of another account’s key, of an unknown key and of a deleted key cannot be changed', async () => {
  await using client = await newKeyClient({}, { limits: { rate } });
  const other = await client.app.signIn();
  const json = { limits: { quota } };
  assertRejected(await client.send('PATCH', '', json, other.accessToken), 'not_key_owner');
  const headers = bearer(client.user.accessToken);
  assertRejected(await client.app.call('PATCH', '/auth/api-keys/4711', { headers, json }), 'key_not_found');
  assert.deepEqual((await client.read()).limits, { rate: { ...rate, burst: 10 }, quota: null });
  assert.equal((await client.send('DELETE')).status, 200);
  assertRejected(await client.send('PATCH', '', json), 'key_not_found');
});
