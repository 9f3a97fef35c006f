/** The tutorial for single-page apps, with the package from its archive, a real service and a real browser. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { Visitor } from '../../console/test/kit/visitor.ts';
import { codeAt } from '../../server/test-kit/authenticator.ts';
import { awaited, until } from '../../server/test-kit/until.ts';
import { openBrowser } from '../../server/test/e2e/browser.ts';
import { bearer, goodPassword, newProgram, type Program } from '../../server/test/e2e/program.ts';
import { files, InstalledBackend, type Backend } from './single-page-backend.ts';

const email = 'you@example.com';

let program: Program;
let installed: InstalledBackend;
let accessToken = '';
before(async () => {
  installed = await InstalledBackend.create();
  program = await newProgram({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' });
  ({ accessToken } = await program.signIn(email));
});
after(async () => {
  await program[Symbol.asyncDispose]();
  await installed[Symbol.asyncDispose]();
});

const startBackend = (more: Readonly<Record<string, string>> = {}): Promise<Backend> =>
  installed.start(program.url, more);

async function openPage(t: TestContext, backend: Backend) {
  const browser = await openBrowser(t);
  if (!browser) return undefined;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => awaited('the browser ends', browser.close()));
  const visitor = await Visitor.open(browser, backend.url);
  // The favicon, and the request for the keys before the sign-in.
  visitor.expectStatus(401, 404);
  await visitor.page.goto('/');
  await visitor.page.getByText('Sign in.', { exact: true }).waitFor();
  const opened = stack.move();
  return { visitor, page: visitor.page, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function signIn(page: Page, password = goodPassword): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor();
const signedOut = (page: Page) => page.getByRole('button', { name: 'Sign in' }).waitFor();
const listed = async (): Promise<string[]> => {
  const { json } = await program.call('GET', '/auth/api-keys', bearer(accessToken));
  return (json as { apiKeys: { nickname: string }[] }).apiKeys.map(({ nickname }) => nickname);
};
const sessionCount = async (): Promise<number> => {
  const { json } = await program.call('GET', '/auth/sessions', bearer(accessToken));
  return (json as { sessions: unknown[] }).sessions.length;
};

/** The headers that a page of the backend's origin sends. */
const ownHeaders = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
const signInBody = JSON.stringify({ email, password: goodPassword });

test('the tutorial has all files', () => {
  assert.deepEqual(
    files.map(([name]) => name),
    ['sessions.js', 'server.js', 'public/index.html', 'public/app.js'],
  );
});

test('a person signs in, manages keys and signs out, and the browser never has a token', async (t) => {
  await using backend = await startBackend();
  await using opened = await openPage(t, backend);
  if (!opened) return;
  const { page, visitor } = opened;
  await signIn(page, 'wrong');
  await page.getByText('The email address or the password is wrong.').waitFor();
  assert.deepEqual(await visitor.context.cookies(), []);
  const earlier = await sessionCount();
  await signIn(page);
  await signedIn(page);
  assert.equal(await sessionCount(), earlier + 1);

  await page.getByLabel('Nickname').fill('<b>from the page</b>');
  await page.getByRole('button', { name: 'Create key' }).click();
  const code = page.locator('#secret code');
  await code.waitFor();
  const key = (await code.textContent()) ?? '';
  assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
  assert.ok((await listed()).includes('<b>from the page</b>'));
  assert.equal(await page.locator('#keys b').count(), 0);

  const [cookie, ...more] = await visitor.context.cookies();
  assert.deepEqual(more, []);
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite], ['session', true, 'Strict']);
  const readable = await page.evaluate(
    `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML, location.href])`,
  );
  assert.doesNotMatch(String(readable), /eyJ[\w-]{10}|krvr_/);
  assert.equal((JSON.parse(String(readable)) as string[])[0], '');

  await page.getByRole('listitem').filter({ hasText: 'from the page' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('listitem').filter({ hasText: 'from the page' }).waitFor({ state: 'detached' });
  assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 401);
  assert.equal((await page.content()).includes(key), false);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await signedOut(page);
  assert.deepEqual([await visitor.context.cookies(), await sessionCount()], [[], earlier]);
  const again = { ...ownHeaders, cookie: `session=${cookie?.value}` };
  assert.equal((await fetch(`${backend.url}/api/keys`, { headers: again })).status, 401);
  // Violations of the policy, tokens in responses, requests to other origins.
  await visitor.assertClean();
});

test('an account with a second factor signs in with its code only', async (t) => {
  await using backend = await startBackend();
  await using opened = await openPage(t, backend);
  if (!opened) return;
  const { page, visitor } = opened;
  const other = 'factor@example.com';
  const { accessToken: token } = await program.signIn(other);
  const path = '/auth/account/second-factor';
  const enrolled = await program.call('POST', path, bearer(token), { currentPassword: goodPassword });
  const { secret } = enrolled.json as { secret: string };
  const confirmed = await program.call('POST', `${path}/confirm`, bearer(token), { code: codeAt(secret, Date.now()) });
  assert.equal(confirmed.status, 200, confirmed.text);
  const [recoveryCode = ''] = (confirmed.json as { recoveryCodes: string[] }).recoveryCodes;

  await page.getByLabel('Email').fill(other);
  await page.getByLabel('Password').fill(goodPassword);
  const submit = page.getByRole('button', { name: 'Sign in' });
  await submit.click();
  await page.getByText('Enter the code of your authenticator app').waitFor();
  await page.getByLabel('Code').fill('000000');
  await submit.click();
  await page.getByText('The code is wrong.').waitFor();
  assert.deepEqual(await visitor.context.cookies(), []);
  await page.getByLabel('Code').fill(recoveryCode);
  await submit.click();
  await signedIn(page);
  await visitor.assertClean();
});

test('a page of another origin cannot use the cookie', async (t) => {
  await using backend = await startBackend();
  await using opened = await openPage(t, backend);
  if (!opened) return;
  const { page, visitor } = opened;
  await signIn(page);
  await signedIn(page);
  // Another port is the same site, so the browser sends the cookie in spite of SameSite.
  const attacker = createServer((_, response) => response.end('<!doctype html><h1>attacker</h1>'));
  attacker.listen(0, '127.0.0.1');
  await once(attacker, 'listening');
  try {
    const tab = await visitor.openTab();
    await tab.goto(`http://127.0.0.1:${(attacker.address() as AddressInfo).port}/`);
    const attempts = [
      `{ method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body: '{"nickname":"forged"}' }`,
      `{ method: 'POST', mode: 'no-cors', body: new URLSearchParams({ nickname: 'forged' }) }`,
      `{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"nickname":"forged"}' }`,
      `{}`,
      `{ mode: 'no-cors' }`,
    ];
    for (const attempt of attempts) {
      const options = `{ ...${attempt}, credentials: 'include' }`;
      const outcome = await tab.evaluate(
        `fetch('${backend.url}/api/keys', ${options}).then(() => 'answered', () => 'blocked')`,
      );
      assert.equal(outcome, 'blocked', attempt);
    }
    assert.equal((await listed()).includes('forged'), false);
    // The browser has sent the cookie with it.
    const [cookie] = await visitor.context.cookies();
    const headers = {
      'sec-fetch-site': 'same-site',
      'content-type': 'application/json',
      cookie: `session=${cookie?.value}`,
    };
    const body = '{"nickname":"forged"}';
    const { status } = await fetch(`${backend.url}/api/keys`, { method: 'POST', headers, body });
    assert.deepEqual([status, (await listed()).includes('forged')], [403, false]);
  } finally {
    attacker.closeAllConnections();
    attacker.close();
  }
});

test('every request to the backend needs the origin, and changes need JSON', async () => {
  await using backend = await startBackend();
  const post = async (headers: Record<string, string>, body = signInBody) =>
    (await fetch(`${backend.url}/api/session`, { method: 'POST', headers, body })).status;
  const json = { 'content-type': 'application/json' };
  assert.equal(await post({ ...json }), 403);
  assert.equal(await post({ ...json, origin: 'https://evil.example' }), 403);
  for (const site of ['cross-site', 'same-site', 'none'])
    assert.equal(await post({ ...json, 'sec-fetch-site': site, origin: backend.url }), 403, site);
  assert.equal(await post({ ...ownHeaders, origin: 'https://evil.example' }), 403);
  assert.equal(await post({ ...ownHeaders, 'content-type': 'text/plain' }), 415);
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '{"email":["a"],"password":"b"}',
    JSON.stringify({ email: 'a'.repeat(2_000) }),
  ])
    assert.equal(await post(ownHeaders, body), 400, body.slice(0, 40));
  assert.equal(await post(ownHeaders, `{"email":"${'a'.repeat(5_000)}"}`), 413);
  assert.equal(await post({ ...json, origin: backend.url }), 204);
  for (const path of ['/api/keys', '/api/keys/1', '/api/other'])
    assert.equal((await fetch(`${backend.url}${path}`)).status, 403, path);
  const page = await fetch(backend.url);
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; .*frame-ancestors 'none'/);
  assert.doesNotMatch(backend.output(), /Error/);
});

test('in production the cookie is bound to the host and to TLS', async () => {
  await using backend = await startBackend({ ORIGIN: 'https://app.example.com' });
  const headers = { 'content-type': 'application/json', origin: 'https://app.example.com' };
  const response = await fetch(`${backend.url}/api/session`, { method: 'POST', headers, body: signInBody });
  const [cookie = '', ...more] = response.headers.getSetCookie();
  assert.match(cookie, /^__Host-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  assert.deepEqual(more, []);
});

test('plain HTTP is for loopback only', async () => {
  await assert.rejects(startBackend({ ORIGIN: 'http://app.example.com' }), /ORIGIN must be https/);
});

test('an expired or ended session signs the browser out, and ends in Keyreeve', async (t) => {
  await using backend = await startBackend();
  await using opened = await openPage(t, backend);
  if (!opened) return;
  const { page, visitor } = opened;
  const earlier = await sessionCount();
  const reload = async (): Promise<void> => void (await page.reload());

  await signIn(page);
  await signedIn(page);
  backend.child.kill('SIGUSR2');
  await until('the clock has moved', () => backend.output().includes('moved'));
  await reload();
  await signedOut(page);
  assert.deepEqual(await visitor.context.cookies(), []);
  await until('the session ends in Keyreeve', async () => (await sessionCount()) === earlier);

  await signIn(page);
  await signedIn(page);
  assert.equal((await program.call('DELETE', '/auth/sessions', bearer(accessToken))).status, 200);
  await reload();
  await signedOut(page);
  assert.deepEqual(await visitor.context.cookies(), []);
  await visitor.assertClean();
});

test('a second sign-in ends the session before it, with another id', async () => {
  await using backend = await startBackend();
  const earlier = await sessionCount();
  const post = async (cookie = ''): Promise<string> => {
    const headers = { ...ownHeaders, cookie };
    const response = await fetch(`${backend.url}/api/session`, { method: 'POST', headers, body: signInBody });
    assert.equal(response.status, 204);
    return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  };
  const first = await post('session=chosen-by-an-attacker');
  assert.notEqual(first, 'session=chosen-by-an-attacker');
  const second = await post(first);
  assert.notEqual(second, first);
  const keys = async (cookie: string) =>
    (await fetch(`${backend.url}/api/keys`, { headers: { ...ownHeaders, cookie } })).status;
  assert.deepEqual([await keys(first), await keys(second)], [401, 200]);
  await until('the first session ends in Keyreeve', async () => (await sessionCount()) === earlier + 1);
});

test('an account has 20 sessions at most: a further sign-in ends the oldest one', async () => {
  await using backend = await startBackend();
  const cookies: string[] = [];
  for (let count = 0; count <= 20; count++) {
    const response = await fetch(`${backend.url}/api/session`, {
      method: 'POST',
      headers: ownHeaders,
      body: signInBody,
    });
    assert.equal(response.status, 204);
    cookies.push(response.headers.get('set-cookie')?.split(';')[0] ?? '');
  }
  const statusOf = async (cookie = ''): Promise<number> =>
    (await fetch(`${backend.url}/api/keys`, { headers: { ...ownHeaders, cookie } })).status;
  assert.deepEqual(
    [await statusOf(cookies[0]), await statusOf(cookies[1]), await statusOf(cookies[20])],
    [401, 200, 200],
  );
});

test('without Keyreeve a sign-in gets 503, and a sign-out still removes the cookie', async () => {
  await using own = await newProgram();
  await own.signIn(email);
  await using backend = await startBackend({ KEYREEVE_URL: own.url });
  const call = (method: string, headers: Record<string, string>) =>
    fetch(`${backend.url}/api/session`, {
      method,
      headers: { ...ownHeaders, ...headers },
      ...(method === 'POST' ? { body: signInBody } : {}),
    });
  const cookie = (await call('POST', {})).headers.getSetCookie()[0]?.split(';')[0] ?? '';
  await own.stop();
  const rejected = await call('POST', {});
  assert.deepEqual([rejected.status, await rejected.json()], [503, { code: 'unavailable' }]);
  const signOut = await call('DELETE', { cookie });
  assert.equal(signOut.status, 503);
  assert.match(signOut.headers.getSetCookie()[0] ?? '', /^session=; .*Expires=Thu, 01 Jan 1970/);
  const later = await fetch(`${backend.url}/api/keys`, { headers: { ...ownHeaders, cookie } });
  assert.equal(later.status, 401);
});
