/** A public URL with a path: a proxy removes the path from requests or not, and what the service states contains it. */
import assert from 'node:assert/strict';
import { readConfig } from '../configuration/config.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { basic, bearer, goodPassword, newApp, type TestApp } from '../../../test-kit/new-app.ts';

const publicUrl = 'http://localhost:8787/id';
const newAppBelowPath = (): Promise<TestApp> => newApp({ environment: { KEYREEVE_PUBLIC_URL: publicUrl } });

test('with and without the path of the public URL, a request reaches the same route', async () => {
  await using app = await newAppBelowPath();
  const { email } = await app.createAccount();
  for (const before of ['', '/id']) {
    const send = (method: string, path: string, headers: object, body?: unknown): Promise<Response> =>
      fetch(app.url + before + path, {
        method,
        headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        redirect: 'manual',
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const signedIn = await send('POST', '/auth/token', basic(email, goodPassword));
    const { accessToken } = (await signedIn.json()) as { accessToken: string };
    const created = await send('POST', '/auth/api-keys', bearer(accessToken), { nickname: `key of “${before}”` });
    const { id, key } = (await created.json()) as { id: number; key: string };
    assert.equal(created.headers.get('location'), `/id/auth/api-keys/${id}`);
    const statuses = { '/auth/forward': 200, '/auth/forward/orders?x=y': 200, '/auth/forward?scope=orders:read': 403 };
    for (const [path, status] of Object.entries(statuses))
      assert.equal((await send('GET', path, bearer(key))).status, status, before + path);
    assert.equal((await send('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    assert.equal((await send('GET', '/auth/forward', bearer(key))).status, 401);
    const root = await send('GET', '/', { accept: 'text/html' });
    assert.deepEqual([root.status, root.headers.get('location')], [303, '/id/console']);
    const changePassword = await send('GET', '/.well-known/change-password', {});
    assert.equal(changePassword.headers.get('location'), '/id/console/account');
  }
  assert.equal((await fetch(`${app.url}/id?x=y`, { redirect: 'manual' })).status, 200);
  for (const path of [
    '/idx/health/live',
    '/ID/health/live',
    '/id/id/health/live',
    '/id//health/live',
    '/x/id/health/live',
  ])
    assert.equal((await fetch(app.url + path)).status, 404, path);
});

test('the addresses in documents, pages and mail contain the path of the public URL', async () => {
  await using app = await newAppBelowPath();
  const read = async (path: string): Promise<string> => (await fetch(app.url + path)).text();
  const json = async (path: string) => JSON.parse(await read(path)) as Record<string, unknown>;
  const names = ['/id/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/id'];
  for (const path of names) {
    const { issuer, jwks_uri: keys, token_endpoint: tokens } = await json(path);
    assert.deepEqual(
      [issuer, keys, tokens],
      [publicUrl, `${publicUrl}/.well-known/jwks.json`, `${publicUrl}/auth/oauth/token`],
    );
  }
  assert.deepEqual((await json('/id/openapi.json'))['servers'], [{ url: '/id' }]);
  assert.equal((await json('/id'))['docs'], '/id/docs');
  const relative = /(?:href|src|data-to)="(\/[^"]*)"/g;
  const pages = ['/id/account/reset-password', '/id/problems/key_not_found', '/id/console'];
  for (const page of pages)
    for (const [, address = ''] of (await read(page)).matchAll(relative)) assert.match(address, /^\/id\//, page);
  assert.match(await read('/id/account/reset-password'), /data-to="\/id\/auth\/password-reset/);
  assert.match(await read('/id/console'), /src="\/id\/console\/assets\/[^/]+\/app\.js"/);
});

test('a token that names the public URL with its path is accepted, and a console at its own origin has no path', async () => {
  await using app = await newApp({
    environment: { KEYREEVE_PUBLIC_URL: publicUrl, KEYREEVE_CONSOLE_URL: 'http://console.localhost:8787' },
  });
  const { accessToken } = await app.signIn();
  const [, claims = ''] = accessToken.split('.');
  assert.equal((JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string }).iss, publicUrl);
  assert.equal((await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) })).status, 200);
  assert.equal((await fetch(`${app.url}/id/console`)).status, 404);
});

test('a path that has two meanings, or that a program may encode, is rejected at the start', () => {
  const read = (url: string): string | undefined => readConfig({ KEYREEVE_PUBLIC_URL: url }).publicUrl;
  assert.equal(read('http://localhost/id/'), 'http://localhost/id');
  assert.equal(read('http://localhost/a.b/~c_d-1'), 'http://localhost/a.b/~c_d-1');
  for (const path of ['auth', 'auth/x', 'console', '.well-known', 'health', 'docs', 'metrics'])
    assert.throws(
      () => read(`http://localhost/${path}`),
      /must not have a path that begins with \/|must be like/,
      path,
    );
  for (const path of ['a//b', 'a/../b', 'a/./b', 'a%20b', 'ä', 'a?b', 'a#b', 'a b', '/', 'a;b', '...'])
    assert.throws(() => read(`http://localhost/${path}`), /must be like/, path);
  assert.throws(() => readConfig({ KEYREEVE_CONSOLE_URL: 'http://localhost/id' }), /without a path/);
});
