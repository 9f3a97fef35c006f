/** Verifications on connections that stay open, as proxies and services use them. */
import assert from 'node:assert/strict';
import type { KeyLimits } from '@keyreeve/contract';
import { KeptConnection } from '../../../../test-kit/kept-connection.ts';
import { newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { newKeyPair, newPublicKeyKey, newShortLived } from '../../../../test-kit/public-key-client.ts';
import { pipelined, pipelinedRequests } from '../../../../test-kit/pipelined-requests.ts';
import { head } from '../../../../test-kit/raw-http.ts';
import { sumOfCounts } from '../../../foundation/latency-histogram.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const proxied = (key: string, ...lines: readonly string[]): string =>
  head('GET /auth/forward HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`, ...lines);

/** @returns a connection whose next request takes the short path */
async function shortConnection(app: TestApp): Promise<KeptConnection> {
  const connection = new KeptConnection(Number(new URL(app.url).port));
  const missing = head('GET /auth/forward HTTP/1.1', 'Host: a');
  await connection.ask(missing);
  await connection.ask(missing);
  return connection;
}

async function fixture() {
  const app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const { account, accessToken } = await app.signIn();
  const { apiKeys, keyChanges } = app.service.services;
  const { id, secret } = await apiKeys.create(operator, account.id, { nickname: 'naïve', scopes: ['a'] });
  /** A key with a change. */
  const changed = async (nickname: string, change: (id: number) => Promise<unknown>): Promise<string> => {
    const key = await apiKeys.create(operator, account.id, { nickname, scopes: ['a'] });
    await change(key.id);
    return key.secret.reveal();
  };
  const limitedTo = (addresses: readonly string[]) =>
    changed(addresses.join(), (keyId) => keyChanges.change(operator, account.id, keyId, { addresses }));
  let count = 0;
  const limited = async (limits: KeyLimits): Promise<{ id: number; nickname: string; key: string }> => {
    const nickname = `limited${count++}`;
    const created = await apiKeys.create(operator, account.id, { nickname, limits });
    return { id: created.id, nickname, key: created.secret.reveal() };
  };
  const disabled = () =>
    changed('disabled', (keyId) => keyChanges.change(operator, account.id, keyId, { disabled: true }));
  const previous = (overlapSeconds: number) =>
    changed(`previous ${overlapSeconds}`, (keyId) =>
      keyChanges.rotate(operator, account.id, keyId, { overlapSeconds, endPrevious: false }),
    );
  return {
    app,
    limitedTo,
    limited,
    disabled,
    previous,
    account,
    accessToken,
    id,
    key: secret.reveal(),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const statusOf = (response: string): number => Number(response.split(' ')[1]);
const withoutRequestId = (response: string): string => response.replace(/"requestId":"[^"]+"/, '');

test('a deleted key is rejected on a connection on which it was accepted before', async () => {
  await using at = await fixture();
  using connection = await shortConnection(at.app);
  for (let n = 0; n < 3; n++) assert.equal(statusOf(await connection.ask(proxied(at.key))), 200);
  const headers = { authorization: `Bearer ${at.accessToken}` };
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${at.id}`, { headers })).status, 200);
  assert.equal(statusOf(await connection.ask(proxied(at.key))), 401);
});

/** @returns requests of a service for a key: of a verification and of an introspection */
const asked = (service: string, key: string): readonly string[] =>
  [
    ['/auth/verify', 'application/json', JSON.stringify({ credential: key })],
    ['/auth/introspect', 'application/x-www-form-urlencoded', `token=${key}`],
  ].map(
    ([path = '', type = '', body = '']) =>
      head(
        `POST ${path} HTTP/1.1`,
        'Host: a',
        `Authorization: Bearer ${service}`,
        `Content-Type: ${type}`,
        `Content-Length: ${body.length}`,
      ) + body,
  );

test('a deleted key, and a deleted caller, are rejected on a connection of a service', async () => {
  await using at = await fixture();
  const { apiKeys } = at.app.service.services;
  const { id, secret } = await apiKeys.create(operator, at.account.id, {
    nickname: 'service',
    scopes: ['keyreeve:verify'],
  });
  const requests = asked(secret.reveal(), at.key);
  const clients = requests.map((request) => ({
    request,
    connection: new KeptConnection(Number(new URL(at.app.url).port)),
  }));
  const answers = (): Promise<string[]> =>
    Promise.all(clients.map(({ request, connection }) => connection.ask(request)));
  const areValid = async (): Promise<boolean[]> =>
    (await answers()).map((response) => /"(?:valid|active)":true/.test(response));
  for (let n = 0; n < 3; n++) assert.deepEqual(await areValid(), [true, true]);
  const { counts, durations } = at.app.service.services.verifier;
  const measured = (): number => sumOfCounts([durations.counts]).reduce((sum, count) => sum + count, 0);
  const before = [counts.api_key, measured()];
  assert.deepEqual(await areValid(), [true, true]);
  // The caller and the credential of each; a verification is measured once.
  assert.deepEqual([counts.api_key, measured()], [(before[0] ?? 0) + 4, (before[1] ?? 0) + 2]);
  const headers = { authorization: `Bearer ${at.accessToken}` };
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${at.id}`, { headers })).status, 200);
  assert.deepEqual(await areValid(), [false, false]);
  await apiKeys.delete(operator, at.account.id, id);
  assert.deepEqual((await answers()).map(statusOf), [401, 401]);
  for (const { connection } of clients) connection[Symbol.dispose]();
});

test('a short-lived secret of a deleted key is rejected on a connection on which it was accepted before', async () => {
  await using at = await fixture();
  using connection = await shortConnection(at.app);
  const pair = newKeyPair();
  const keyId = await newPublicKeyKey(at.app, at.accessToken, pair);
  const request = proxied(await newShortLived(at.app, pair, keyId));
  for (let n = 0; n < 3; n++) assert.equal(statusOf(await connection.ask(request)), 200);
  const headers = { authorization: `Bearer ${at.accessToken}` };
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${keyId}`, { headers })).status, 200);
  assert.equal(statusOf(await connection.ask(request)), 401);
});

test('every response on a connection that stays open has the bytes of a response on a new one', async () => {
  await using at = await fixture();
  using connection = await shortConnection(at.app);
  const limited = await at.limitedTo(['203.0.113.0/24']);
  const hops = (...lines: readonly string[]): string =>
    proxied(limited, ...lines.map((line) => `X-Forwarded-For: ${line}`));
  const [previous, ended] = [await at.previous(600), await at.previous(0)];
  const pair = newKeyPair();
  const publicKeyId = await newPublicKeyKey(at.app, at.accessToken, pair, { scopes: ['a'] });
  const shortLived = await newShortLived(at.app, pair, publicKeyId);
  const leaked = await newShortLived(at.app, pair, publicKeyId);
  await at.app.service.services.leaks.report(operator, [{ text: leaked }]);
  const requests: Readonly<Record<string, readonly [request: string, status: number]>> = {
    'a key': [proxied(at.key), 200],
    'a key with IP ranges': [hops('203.0.113.7'), 200],
    'a key with IP ranges, two lines': [hops('198.51.100.1', '203.0.113.7'), 200],
    'another client IP': [hops('203.0.113.7, 198.51.100.1'), 403],
    'another client IP in the second line': [hops('203.0.113.7', '198.51.100.1'), 403],
    'the client IP of the connection': [hops('127.0.0.1'), 403],
    'no client IP': [proxied(limited, 'X-Real-IP: 203.0.113.7'), 403],
    'a malformed client IP': [hops('203.0.113.7:80'), 403],
    'a disabled key': [proxied(await at.disabled()), 401],
    'a previous secret': [proxied(previous), 200],
    'a previous secret after its end': [proxied(ended), 401],
    'a short-lived secret': [proxied(shortLived), 200],
    'a scope of a short-lived secret': [proxied(shortLived).replace('forward ', 'forward?scope=a '), 200],
    'another scope than that of a short-lived secret': [
      proxied(shortLived).replace('forward ', 'forward?scope=b '),
      403,
    ],
    'a short-lived secret after its end': [proxied(leaked), 401],
    'an access token': [proxied(at.accessToken), 200],
    'a scope of the key': [proxied(at.key).replace('forward ', 'forward?scope=a '), 200],
    'another scope': [proxied(at.key).replace('forward ', 'forward?scope=b '), 403],
    'no credential': [head('GET /auth/forward HTTP/1.1', 'Host: a'), 401],
    'two credentials': [proxied(at.key, `X-API-Key: ${at.key}`), 401],
    'a malformed key': [proxied('krv_a'), 401],
    'too many headers': [proxied(at.key, ...Array.from({ length: 99 }, (_, n) => `X-${n}: a`)), 431],
  };
  for (const [what, [request, status]] of Object.entries(requests)) {
    using fresh = new KeptConnection(Number(new URL(at.app.url).port));
    const expected = await fresh.ask(request);
    const actual = await connection.ask(request);
    assert.equal(statusOf(actual), status, what);
    assert.equal(withoutRequestId(actual), withoutRequestId(expected), what);
  }
});

test('responses to keys with limits have the same bytes on a connection that stays open', async () => {
  await using at = await fixture();
  using connection = await shortConnection(at.app);
  const ask = (key: string, query: string, to = connection): Promise<string> =>
    to.ask(proxied(key).replace('forward ', `forward${query} `));
  const queries = ['', '?cost=1', '', '?limited=403', '?cost=3&limited=403', '?cost=0', '?limited=1', ''];
  const withoutSeconds = (response: string): string =>
    withoutRequestId(response).replace(/;t=\d+|Retry-After: \d+/g, (text) => text.replace(/\d+/, 'n'));
  for (const limits of [
    { quota: { limit: 2, per: 'day' } },
    { quota: { limit: 2, per: 'ever' } },
    { rate: { limit: 2, windowSeconds: 3_600 }, quota: { limit: 100, per: 'month' } },
  ] as const) {
    const [one, other] = [await at.limited(limits), await at.limited(limits)];
    const short: string[] = [];
    for (const query of queries) short.push(await ask(one.key, query));
    assert.deepEqual(short.map(statusOf), [200, 200, 429, 403, 403, 400, 400, 429]);
    const node: string[] = [];
    for (const query of queries) {
      using fresh = new KeptConnection(Number(new URL(at.app.url).port));
      node.push(await ask(other.key, query, fresh));
    }
    const anonymous = (response: string, { id, nickname }: typeof one): string =>
      withoutSeconds(response).replaceAll(String(id), 'id').replaceAll(nickname, 'nickname');
    assert.deepEqual(
      short.map((response) => anonymous(response, one)),
      node.map((response) => anonymous(response, other)),
    );
  }
});

test('verifications and rejections on a connection that stays open are counted once', async () => {
  await using at = await fixture();
  using connection = await shortConnection(at.app);
  const rejections = async (): Promise<number> => {
    const page = await (await fetch(`${at.app.service.adminUrl}/metrics`)).text();
    const line = page.split('\n').find((text) => text.includes('route="/auth/forward"') && text.includes('401'));
    return Number(line?.split(' ').at(-1));
  };
  const { counts } = at.app.service.services.verifier;
  const before = { ...counts, rejections: await rejections() };
  for (const key of [at.key, at.key, `${at.key}x`, at.accessToken]) await connection.ask(proxied(key));
  const { api_key: keys, access_token: tokens, malformed } = counts;
  assert.deepEqual(
    [keys, tokens, malformed, await rejections()],
    [before.api_key + 2, before.access_token + 1, before.malformed + 1, before.rejections + 1],
  );
});

test('a verification is counted once and spends a limit once, also if bytes or the end follow while it is in progress', async () => {
  await using at = await fixture();
  const connections = 8;
  const limit = pipelinedRequests * connections;
  const { key } = await at.limited({ quota: { limit, per: 'ever' } });
  const { counts } = at.app.service.services.verifier;
  const before = counts.api_key;
  const port = Number(new URL(at.app.url).port);
  const request = proxied(key);
  const statuses = await Promise.all(Array.from({ length: connections }, () => pipelined(port, request)));
  assert.deepEqual(new Set(statuses.flat()), new Set([200]));
  assert.equal(counts.api_key - before, limit);
  using connection = await shortConnection(at.app);
  assert.equal(statusOf(await connection.ask(request)), 429);
});
