/** The usage of keys over HTTP: each verification counts once, in the endpoint that it uses. */
import assert from 'node:assert/strict';
import type { CreatedKey, KeyUsage, RotatedKey } from '@keyreeve/contract';
import { dayMs, hourMs } from '../../../foundation/clock.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { bearer, newApp, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';

/** Entries as `[hours since the start of the clock's hour, accepted, refused]`. */
type Entries = readonly (readonly [hour: number, accepted: number, refused: number])[];

async function fixture(environment: Record<string, string> = {}) {
  const app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1', ...environment } });
  const start = Math.floor(app.clock.now() / hourMs) * hourMs;
  const { accessToken, account } = await app.signIn();
  const own = (method: string, path: string, json?: unknown) =>
    app.call(method, `/auth/api-keys${path}`, { headers: bearer(accessToken), ...(json ? { json } : {}) });
  const create = async (more: object): Promise<CreatedKey> => (await own('POST', '', more)).json as CreatedKey;
  const usage = (id: number, query = ''): Promise<Answered> => own('GET', `/${id}/usage${query}`);
  const entries = async (id: number, query = ''): Promise<Entries> => {
    await app.service.services.uses.flush();
    const answer = await usage(id, query);
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as KeyUsage).usage.map((entry) => [
      (Date.parse(entry.at) - start) / hourMs,
      entry.accepted,
      entry.refused,
    ]);
  };
  const forward = async (key: string, query = '', headers: Record<string, string> = {}): Promise<number> =>
    (await app.call('GET', `/auth/forward${query}`, { headers: { ...bearer(key), ...headers } })).status;
  const dispose = () => app[Symbol.asyncDispose]();
  return { app, account, accessToken, own, create, usage, entries, forward, [Symbol.asyncDispose]: dispose };
}

/** Sends a request to an endpoint for services. */
const ask = (app: TestApp, service: string, path: string, json: object): Promise<Answered> =>
  path === '/auth/introspect'
    ? app.call('POST', path, {
        headers: { ...bearer(service), 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(json as Record<string, string>).toString(),
      })
    : app.call('POST', path, { headers: bearer(service), json });

test('every verification counts once: proxy, backend, batch, introspection, and the service that asks', async () => {
  await using at = await fixture();
  const { id, key } = await at.create({ nickname: 'worker', scopes: ['read'] });
  const administrator = await newAdministrator(at.app);
  const created = await at.app.call('POST', '/auth/api-keys', {
    headers: bearer(administrator.accessToken),
    json: { nickname: 'gateway', scopes: ['keyreeve:verify'] },
  });
  const gateway = created.json as CreatedKey;
  for (let count = 0; count < 3; count++) assert.equal(await at.forward(key), 200);
  assert.equal(await at.forward(key, '?scope=read'), 200);
  assert.equal(await at.forward(key, '?scope=write'), 403);
  assert.deepEqual(await at.entries(id), [[0, 4, 1]]);
  assert.equal((await ask(at.app, gateway.key, '/auth/verify', { credential: key })).status, 200);
  assert.equal((await ask(at.app, gateway.key, '/auth/introspect', { token: key })).status, 200);
  const credentials = [key, 'krv_unknown', key, at.accessToken];
  assert.equal((await ask(at.app, gateway.key, '/auth/verify/batch', { credentials })).status, 200);
  assert.deepEqual(await at.entries(id), [[0, 8, 1]]);
  // As a service, the key lacks the scope, so the credential in the body is not verified.
  assert.equal((await ask(at.app, key, '/auth/verify', { credential: gateway.key })).status, 403);
  assert.deepEqual(await at.entries(id), [[0, 8, 2]]);
  const ofGateway = await at.app.call('GET', `/auth/api-keys/${gateway.id}/usage`, {
    headers: bearer(administrator.accessToken),
  });
  assert.deepEqual(
    (ofGateway.json as KeyUsage).usage.map(({ accepted, refused }) => [accepted, refused]),
    [[3, 0]],
  );
});

test('a refused key counts, whatever the reason, and its previous secret counts as the key', async () => {
  await using at = await fixture();
  const service = await at.app.serviceKey();
  const soon = new Date(at.app.clock.now() + 2 * hourMs).toISOString();
  const { id, key } = await at.create({ nickname: 'worker', expiresAt: soon });
  const rotated = (await at.own('POST', `/${id}/rotate`, { overlapSeconds: 600 })).json as RotatedKey;
  for (const secret of [key, rotated.key, rotated.key]) assert.equal(await at.forward(secret), 200);
  assert.deepEqual(await at.entries(id), [[0, 3, 0]]);
  assert.equal((await at.own('PATCH', `/${id}`, { addresses: ['203.0.113.0/24'] })).status, 200);
  assert.equal(await at.forward(key, '', { 'x-forwarded-for': '203.0.113.7' }), 200);
  assert.equal(await at.forward(key, '', { 'x-forwarded-for': '192.0.2.1' }), 403);
  await ask(at.app, service, '/auth/verify', { credential: key });
  assert.deepEqual(await at.entries(id), [[0, 4, 2]]);
  assert.equal((await at.own('PATCH', `/${id}`, { addresses: null, disabled: true })).status, 200);
  assert.equal(await at.forward(rotated.key), 401);
  assert.equal((await at.own('PATCH', `/${id}`, { disabled: false })).status, 200);
  // The overlap ends after 10 minutes, the key after 2 hours.
  at.app.clock.advance({ seconds: 601 });
  assert.equal(await at.forward(key), 401);
  assert.deepEqual(await at.entries(id), [[0, 4, 4]]);
  at.app.clock.advance({ seconds: 2 * 3_600 });
  assert.equal(await at.forward(rotated.key), 401);
  const [, last] = await entriesOfService(at, id);
  assert.deepEqual(last?.slice(1), [0, 1]);
});

/** The access token expires after 10 minutes, so the entries are read from the service. */
async function entriesOfService(at: Awaited<ReturnType<typeof fixture>>, id: number): Promise<Entries> {
  const { keyUsage, uses } = at.app.service.services;
  await uses.flush();
  const { rows } = await keyUsage.list(at.account.id, id, {});
  return rows.map((row) => [row.at, row.accepted, row.refused]);
}

test('an unknown credential and an access token count for no key', async () => {
  await using at = await fixture();
  const { id } = await at.create({ nickname: 'worker' });
  assert.equal(await at.forward(at.accessToken), 200);
  assert.equal(await at.forward('krv_unknown'), 401);
  assert.deepEqual(await at.entries(id), []);
  assert.equal(at.app.service.services.uses.totals.written, 0);
});

testOnBoth('hours and days are listed in order, within the period, without empty ones', async () => {
  await using at = await fixture();
  const { id } = await at.create({ nickname: 'worker' });
  const now = at.app.clock.now();
  const hour = Math.floor(now / hourMs) * hourMs;
  const { collector } = at.app.service.services.uses;
  const used = { id, updatedAt: 0, overlapEndsAt: null, expiresAt: null };
  for (const age of [0, 1, 23, 24, 25, 200]) collector.accept(used, hour - age * hourMs, () => undefined);
  const times = async (query: string) => (await at.entries(id, query)).map(([since]) => Math.abs(since));
  assert.deepEqual(await times(''), [24, 23, 1, 0]);
  assert.deepEqual(await times('?step=hour'), [24, 23, 1, 0]);
  const iso = (ms: number): string => new Date(ms).toISOString();
  const between = (from: number, to: number) => `?from=${iso(from)}&to=${iso(to)}`;
  assert.deepEqual(await times(between(hour - 399 * hourMs, hour + 1)), [200, 25, 24, 23, 1, 0]);
  assert.deepEqual(await times(between(hour - hourMs + 1, hour)), [1]);
  assert.deepEqual(await times(`?from=${encodeURIComponent('2020-01-01T00:00:00+01:00')}&to=2020-01-02T00:00:00Z`), []);
  const days = await at.entries(id, '?step=day');
  const total = days.reduce((sum, [, accepted]) => sum + accepted, 0);
  assert.equal(total, 6);
  for (const [since] of days) assert.equal((hour + since * hourMs) % dayMs, 0);
});

const wrongQueries: readonly (readonly [query: string, pointer: string | undefined, detail: RegExp])[] = [
  ['?step=week', '/step', /Expected one of "hour", "day"/],
  ['?from=yesterday', '/from', /RFC 3339/],
  ['?to=2026-11-21', '/to', /RFC 3339/],
  ['?to=2016-12-31T23:59:60Z', '/to', /leap second/],
  ['?from=2026-11-21T10:00:00Z&to=2026-11-21T10:00:00Z', '/from', /before `to`/],
  ['?from=2999-01-01T00:00:00Z', '/from', /before `to`, which is now/],
  ['?from=2026-01-01T00:30:00Z&to=2026-01-17T16:10:00Z', '/from', /at most 400 hours/],
  ['?step=day&from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:01Z', '/from', /at most 400 days/],
  ['?limit=5', '/limit', /unknown/],
  ['?step=hour&step=day', undefined, /step is repeated/],
];

test('a wrong period or parameter is an error that names it', async () => {
  await using at = await fixture();
  const { id } = await at.create({ nickname: 'worker' });
  for (const [query, pointer, detail] of wrongQueries) {
    const problem = assertProblem(fromFetch(await at.usage(id, query)), 'invalid_request', query);
    assert.equal(problem.errors?.[0]?.pointer, pointer, query);
    assert.match(problem.errors?.[0]?.detail ?? problem.detail, detail);
  }
  // The longest period.
  assert.deepEqual(await at.entries(id, '?step=day&from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:00Z'), []);
});

test('only the owner and administrators read the usage of a key', async () => {
  await using at = await fixture();
  const { id, key } = await at.create({ nickname: 'worker' });
  await at.forward(key);
  const other = await at.app.signIn();
  const foreign = await at.app.call('GET', `/auth/api-keys/${id}/usage`, { headers: bearer(other.accessToken) });
  assertProblem(fromFetch(foreign), 'not_key_owner');
  assertProblem(fromFetch(await at.usage(id + 1)), 'key_not_found');
  assertProblem(fromFetch(await at.own('GET', '/abc/usage')), 'key_not_found');
  assertProblem(fromFetch(await at.app.call('GET', `/auth/api-keys/${id}/usage`)), 'missing_access_token');
  const own = (await at.entries(id)).length;
  assert.equal(own, 1);
  const administrator = await newAdministrator(at.app);
  const read = (account: string, keyId: number | string, query = '') =>
    administer(at.app, administrator, 'GET', `accounts/${account}/api-keys/${keyId}/usage${query}`);
  const found = await read(at.account.id, id);
  assert.deepEqual(found.json, (await at.usage(id)).json);
  assertProblem(fromFetch(await read(other.account.id, id)), 'key_not_found');
  assertProblem(fromFetch(await read('acc_unknown', id)), 'account_not_found');
  assertProblem(fromFetch(await read(at.account.id, id, '?step=week')), 'invalid_request');
  assert.equal((await at.own('DELETE', `/${id}`)).status, 200);
  assertProblem(fromFetch(await at.usage(id)), 'key_not_found');
});

test('with KEYREEVE_USAGE_DAYS=0, nothing is counted, and the last use is still known', async () => {
  await using at = await fixture({ KEYREEVE_USAGE_DAYS: '0' });
  const { id, key } = await at.create({ nickname: 'worker' });
  assert.equal(await at.forward(key), 200);
  const { keyUsage, uses } = at.app.service.services;
  await uses.flush();
  assert.deepEqual(uses.totals, { written: 0, dropped: 0, unknown: 0 });
  assertProblem(fromFetch(await at.usage(id)), 'usage_not_kept');
  const recent = await keyUsage.recent(at.account.id, id);
  assert.deepEqual(recent, { lastUsedAt: at.app.clock.now(), lastUsedFrom: null, lastDay: undefined });
});

testOnBoth('an orderly stop writes every count, and instances add up', async () => {
  await using at = await fixture();
  const { id, key } = await at.create({ nickname: 'worker' });
  const counts = 5;
  {
    await using second = await newApp({ place: at.app.place, clock: at.app.clock });
    for (let count = 0; count < counts; count++)
      assert.equal((await second.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200);
    assert.equal(await at.forward(key), 200);
  }
  assert.deepEqual(await at.entries(id), [[0, counts + 1, 0]]);
  const recent = await at.app.service.services.keyUsage.recent(at.account.id, id);
  assert.deepEqual({ ...recent?.lastDay }, { accepted: counts + 1, refused: 0 });
});
