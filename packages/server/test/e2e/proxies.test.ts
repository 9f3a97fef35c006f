/**
 * The configurations in `docs/forward-auth/`, with the proxies in front of a backend; proxies.extended.test.ts has the other
 * proxies. CI installs every proxy; on other machines, tests of missing proxies are skipped. Requests as Envoy and Traefik send
 * them are also sent to Keyreeve directly.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startKeyreeve } from './forward-auth-server.ts';
import { forgedAddresses } from './proxy-addresses.ts';
import { send, values } from './proxy-client.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import { checkConfigurations } from './proxy-checks.ts';
import { productProxies } from './proxy-programs.ts';
import { bearer, envoyHeaders } from './proxy-setup.ts';
import { startedOnce } from './shared-keyreeve.ts';

const start = startedOnce(() => startKeyreeve());
let keyreeve: ForwardAuthServer;
beforeEach(async () => {
  keyreeve = await start();
});

checkConfigurations(productProxies, start);

void test('Keyreeve answers Envoy’s requests below /auth/forward, for every method and path', async () => {
  const credential = bearer(keyreeve.ordersKey.key);
  const longPath = `/auth/forward/${'a'.repeat(4_000)}?${'b'.repeat(4_000)}`;
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    for (const path of ['/auth/forward/orders/1?x=y', '/auth/forward/', '/auth/forward?scope=orders:read', longPath]) {
      const response = await send(keyreeve.port, { method, path, headers: [credential, ...envoyHeaders] });
      assert.equal(response.status, 200, `${method} ${path.slice(0, 60)}`);
      assert.equal(response.body, '');
      assert.deepEqual(values(response.headers, 'X-Keyreeve-Account'), [keyreeve.accountId]);
      assert.equal((await send(keyreeve.port, { method, path, headers: envoyHeaders })).status, 401);
    }
  }
});

void test('a path below /auth/forward never reaches another route', async () => {
  const paths = [
    '../../health/ready',
    '..%2f..%2fhealth/ready',
    '%2e%2e/health/ready',
    '/../health/ready',
    '..\\..\\health\\ready',
    '%zz',
    '%00',
  ];
  for (const path of paths) {
    const response = await send(keyreeve.port, { path: `/auth/forward/${path}`, headers: envoyHeaders });
    assert.ok(response.status >= 400 && response.status < 500, `${path}: ${response.status}`);
  }
});

void test('an entry of the client before that of Envoy is not the client IP', async () => {
  const { key } = await keyreeve.createKey('limited', { addresses: ['203.0.113.0/24'] });
  const statusOf = async (entries: readonly string[]): Promise<number> => {
    const headers = [bearer(key), ...envoyHeaders, ...entries.map((entry) => ['x-forwarded-for', entry] as const)];
    return (await send(keyreeve.port, { path: '/auth/forward/', headers })).status;
  };
  assert.equal(await statusOf(['203.0.113.7']), 200);
  assert.equal(await statusOf(['198.51.100.1,203.0.113.7']), 200);
  for (const entries of [['203.0.113.7,198.51.100.1'], ['203.0.113.7', '198.51.100.1'], []])
    assert.equal(await statusOf(entries), 403, entries.join());
  for (const [how, headers] of Object.entries(forgedAddresses('203.0.113.7'))) {
    const envoys = ['x-forwarded-for', '198.51.100.1'] as const;
    const response = await send(keyreeve.port, { path: '/auth/forward/', headers: [bearer(key), ...headers, envoys] });
    assert.equal(response.status, 403, how);
  }
});

void test('Keyreeve answers Traefik’s requests, with all headers about the client', async () => {
  const headers: readonly (readonly [string, string])[] = [
    ['User-Agent', 'Go-http-client/1.1'],
    ['X-Forwarded-For', '203.0.113.9'],
    ['X-Forwarded-Host', 'api.example.com'],
    ['X-Forwarded-Method', 'POST'],
    ['X-Forwarded-Port', '80'],
    ['X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Uri', '/orders/1?x=y'],
    ['Accept-Encoding', 'gzip'],
  ];
  const path = '/auth/forward?scope=orders:read';
  const response = await send(keyreeve.port, { path, headers: [...headers, bearer(keyreeve.ordersKey.key)] });
  assert.equal(response.status, 200, response.body);
  assert.deepEqual(values(response.headers, 'X-Keyreeve-Key-Id'), [String(keyreeve.ordersKey.id)]);
  assert.equal((await send(keyreeve.port, { path, headers })).status, 401);
});

void test('a 200 has all five identity headers, empty if they do not apply', async () => {
  const { headers } = await send(keyreeve.port, { path: '/auth/forward', headers: [bearer(keyreeve.accessToken)] });
  const named = headers
    .filter(([name]) => name.toLowerCase().startsWith('x-keyreeve-'))
    .map(([name, value]) => [name.toLowerCase(), value]);
  assert.equal(named.length, 5);
  assert.deepEqual(Object.fromEntries(named), {
    'x-keyreeve-account': keyreeve.accountId,
    'x-keyreeve-credential': 'access_token',
    'x-keyreeve-key-id': '',
    'x-keyreeve-nickname': '',
    'x-keyreeve-scopes': '',
  });
});
