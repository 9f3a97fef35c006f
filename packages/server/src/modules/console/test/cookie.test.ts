/** The session cookie, as raw HTTP: its attributes, the requests that may use it, and the paths that ignore it. */
import assert from 'node:assert/strict';
import { errors, type ErrorCode } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { bearer, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { ask, head, type RawAnswer } from '../../../../test-kit/raw-http.ts';

const https = { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
const proxied = ['X-Forwarded-Proto: https', 'X-Forwarded-For: 192.0.2.1'];

async function signInOver(app: TestApp, email: string, lines: readonly string[] = []): Promise<RawAnswer> {
  const body = JSON.stringify({ email, password: goodPassword });
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const json = 'Content-Type: application/json';
  const request = ['POST /console/session HTTP/1.1', 'Host: a', 'X-Keyreeve-Console: user', json, length, ...lines];
  return ask(app.url, head(...request) + body);
}

test(
  'the cookie is inaccessible to scripts and to other sites, and over https to other hosts',
  { tags: ['asvs:3.3.1', 'asvs:3.3.2', 'asvs:3.3.3', 'asvs:3.3.4', 'asvs:14.3.3'] },
  async () => {
    const attributes = {
      http: [{}, /^kr_s=krvs_[0-9A-Za-z]{71}; Path=\/; HttpOnly; SameSite=Strict$/],
      https: [https, /^__Host-kr_s=krvs_[0-9A-Za-z]{71}; Path=\/; Secure; HttpOnly; SameSite=Strict$/],
      'a console over https': [
        { ...https, KEYREEVE_PUBLIC_URL: 'http://127.0.0.1:1', KEYREEVE_CONSOLE_URL: 'https://a' },
        /^__Host-kr_s=krvs_[0-9A-Za-z]{71}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      ],
    } as const;
    for (const [name, [environment, expected]] of Object.entries(attributes)) {
      await using app = await newApp({ environment });
      const { email } = await app.createAccount();
      const answer = await signInOver(app, email, proxied);
      assert.equal(answer.status, 200, `${name} ${answer.body}`);
      const set = answer.headers.get('set-cookie') ?? [];
      assert.equal(set.length, 1, name);
      assert.match(set[0] ?? '', expected, name);
      assert.ok(!answer.body.includes('krvs_'), name);
    }
  },
);

test('a sign-out deletes the cookie, and no cookie of another application', { tags: ['asvs:14.3.1'] }, async () => {
  await using app = await newApp();
  const client = new ConsoleClient(app);
  await client.signIn((await app.createAccount()).email);
  const answer = await client.call('DELETE', '/session');
  assert.equal(answer.status, 204);
  assert.deepEqual(answer.headers.getSetCookie(), ['kr_s=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
  assert.equal(answer.headers.get('clear-site-data'), '"cache", "storage"');
});

/** Headers of a request that has the cookie, and the code with which the server rejects it; undefined: it is accepted. */
const requests: Readonly<Record<string, readonly [lines: readonly string[], code: ErrorCode | undefined]>> = {
  'a request of the console': [['X-Keyreeve-Console: user', 'Sec-Fetch-Site: same-origin'], undefined],
  'a poll of the console': [['X-Keyreeve-Console: background', 'Sec-Fetch-Site: same-origin'], undefined],
  'a browser without Sec-Fetch-Site': [['X-Keyreeve-Console: user'], undefined],
  'no header': [['Sec-Fetch-Site: same-origin'], 'cross_origin_request'],
  'an empty header': [['X-Keyreeve-Console:'], 'cross_origin_request'],
  'an unknown value': [['X-Keyreeve-Console: 1'], 'cross_origin_request'],
  'two headers': [['X-Keyreeve-Console: user', 'X-Keyreeve-Console: user'], 'cross_origin_request'],
  'a sibling subdomain': [['X-Keyreeve-Console: user', 'Sec-Fetch-Site: same-site'], 'cross_origin_request'],
  'another site': [['X-Keyreeve-Console: user', 'Sec-Fetch-Site: cross-site'], 'cross_origin_request'],
  'a bookmark': [['X-Keyreeve-Console: user', 'Sec-Fetch-Site: none'], 'cross_origin_request'],
  'two values of Sec-Fetch-Site': [
    ['X-Keyreeve-Console: user', 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
    'cross_origin_request',
  ],
  'another origin': [['X-Keyreeve-Console: user', 'Origin: https://example.com'], 'cross_origin_request'],
  'an opaque origin': [['X-Keyreeve-Console: user', 'Origin: null'], 'cross_origin_request'],
  'two cookies in one line': [['X-Keyreeve-Console: user', 'Cookie: a=b; kr_s=COOKIE'], 'ambiguous_credentials'],
  'a second, empty cookie': [['X-Keyreeve-Console: user', 'Cookie: kr_s='], 'ambiguous_credentials'],
  'another cookie': [['X-Keyreeve-Console: user', 'Cookie: kr_sx=1; xkr_s=2; other=3'], undefined],
  'Authorization too': [['X-Keyreeve-Console: user', 'Authorization: Bearer TOKEN'], 'ambiguous_credentials'],
  'blank credential fields': [['X-Keyreeve-Console: user', 'Authorization: ', 'X-API-Key:'], undefined],
  'X-API-Key too': [['X-Keyreeve-Console: user', 'X-API-Key: krv_x'], 'ambiguous_credentials'],
};

test(
  'only a request that a page of the console made may use the cookie',
  { tags: ['asvs:3.5.1', 'asvs:3.5.2', 'asvs:3.5.3'] },
  async () => {
    await using app = await newApp();
    const { account, accessToken } = await app.signIn();
    const client = new ConsoleClient(app);
    await client.signIn(account.email);
    const cookie = client.cookie ?? '';
    for (const [name, [lines, code]] of Object.entries(requests)) {
      for (const path of ['/console/session', '/console/api/auth/account']) {
        const given = lines.map((line) => line.replace('COOKIE', cookie).replace('TOKEN', accessToken));
        const answer = await ask(app.url, head(`GET ${path} HTTP/1.1`, 'Host: a', `Cookie: kr_s=${cookie}`, ...given));
        assert.equal(answer.status, code === undefined ? 200 : errors[code].status, `${name} ${path} ${answer.body}`);
        if (code !== undefined) assert.equal((JSON.parse(answer.body) as { code: string }).code, code, name);
        // The console may be open under another address of the machine.
        const where = `Open the console at ${app.service.publicUrl}/console.`;
        if (code === 'cross_origin_request') assert.ok(answer.body.includes(where), answer.body);
        assert.equal(answer.headers.get('www-authenticate'), undefined, name);
        assert.equal(answer.headers.get('set-cookie'), undefined, name);
      }
    }
    const own = await client.call('GET', '/session', { headers: { origin: app.service.publicUrl } });
    assert.equal(own.status, 200);
  },
);

test(
  'only a cookie with exactly the name is a session cookie: browsers accept other bytes before the prefix __Host-',
  { tags: ['asvs:3.3.3'] },
  async () => {
    for (const environment of [{}, https]) {
      await using app = await newApp({ environment });
      const { email } = await app.createAccount();
      const signedIn = await signInOver(app, email, proxied);
      const [name = '', value = ''] =
        /^([^;]*?)=([^;]*)/.exec(signedIn.headers.get('set-cookie')?.[0] ?? '')?.slice(1) ?? [];
      const get = (cookie: string): Promise<RawAnswer> => {
        const lines = ['Host: a', 'X-Keyreeve-Console: user', ...proxied, `Cookie: ${cookie}`];
        return ask(app.url, head('GET /console/api/auth/account HTTP/1.1', ...lines));
      };
      const own = `${name}=${value}`;
      for (const byte of ['\xa0', '\x85', '\xad', '\xef\xbb\xbf', '\xe2\x80\x83', '!']) {
        const foreign = `${byte}${name}=${value}`;
        const what = Buffer.from(byte, 'latin1').toString('hex');
        assert.equal((await get(foreign)).status, 401, what);
        assert.equal((await get(`${foreign}; ${own}`)).status, 200, what);
        assert.equal((await get(`${own};${foreign}`)).status, 200, what);
        assert.equal((await get(`${name}${byte}=${value}`)).status, 401, what);
      }
      for (const cookie of [own, `a=b;${own}`, `a=b; \t${own} \t;c=d`]) assert.equal((await get(cookie)).status, 200);
    }
  },
);

test('a form cannot sign in, not even with the header', { tags: ['asvs:3.5.2'] }, async () => {
  await using app = await newApp();
  const { email } = await app.createAccount();
  const client = new ConsoleClient(app);
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
    const body = JSON.stringify({ email, password: goodPassword });
    const answer = await client.call('POST', '/session', { headers: { 'content-type': type }, body });
    assert.equal(answer.status, 415, type);
    assert.equal(client.cookie, undefined, type);
  }
});

test(
  'paths of the console answer no preflight and have no CORS headers, not even for listed origins',
  { tags: ['asvs:3.4.2'] },
  async () => {
    const origin = 'https://app.example.com';
    await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS: origin } });
    const wanted = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x' };
    for (const path of ['/console/session', '/console/config', '/console/api/auth/account', '/console']) {
      const preflight = await app.call('OPTIONS', path, { headers: wanted });
      assert.equal(preflight.status, 405, path);
      const answer = await app.call('GET', path, { headers: { origin } });
      for (const { headers } of [preflight, answer])
        for (const name of headers.keys()) assert.ok(!name.startsWith('access-control-'), `${path} ${name}`);
    }
    assert.equal((await app.call('OPTIONS', '/auth/account', { headers: wanted })).status, 204);
  },
);

test('every path except those of the console ignores the cookie', { tags: ['asvs:3.5.1'] }, async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const client = new ConsoleClient(app);
  await client.signIn(account.email);
  const { headers } = client;
  const paths = [
    '/auth/account',
    '/auth/sessions',
    '/auth/api-keys',
    '/admin/accounts',
    '/auth/forward',
    '/console/config',
  ];
  const isStable = ([name]: [string, string]): boolean => name !== 'date';
  const textOf = ({ text }: { text: string }): string => text.replaceAll(/"(requestId|now)":"[^"]*"/g, '');
  for (const path of paths) {
    for (const credential of [{}, bearer(accessToken)]) {
      const without = await app.call('GET', path, { headers: credential });
      const answer = await app.call('GET', path, { headers: { ...headers, ...credential } });
      assert.equal(answer.status, without.status, path);
      assert.equal(textOf(answer), textOf(without), path);
      assert.deepEqual([...answer.headers].filter(isStable), [...without.headers].filter(isStable), path);
      assert.equal(answer.headers.get('set-cookie'), null, path);
    }
  }
});

test('a cookie is no access token, no API key and no refresh token, and none of them is a cookie', async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const client = new ConsoleClient(app);
  await client.signIn(account.email);
  const cookie = client.cookie ?? '';
  assert.equal((await app.call('GET', '/auth/account', { headers: bearer(cookie) })).status, 401);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(cookie) })).status, 401);
  for (const path of ['/auth/token/refresh', '/auth/token/revoke'])
    await app.call('POST', path, { json: { refreshToken: cookie } });
  assert.ok(await client.isSignedIn());
  for (const text of [accessToken, refreshToken, '', 'krvs_', cookie.slice(0, -1), `${cookie}0`, cookie.toLowerCase()])
    assert.equal(await new ConsoleClient(app, text).isSignedIn(), false, text.slice(0, 8));
});
