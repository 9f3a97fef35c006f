/** Error responses: form, headers, log lines, no internal details, and a page for every code. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { errors, OAuthError, type ErrorCode } from '@keyreeve/contract';
import { sql } from '../../foundation/database/sql.ts';
import { FakeClock } from '../../../test-kit/fake-clock.ts';
import { basic, bearer, goodPassword, newApp, type Answered, type TestApp } from '../../../test-kit/new-app.ts';
import {
  assertProblem,
  assertSecurityHeaders,
  fromFetch,
  fromWire,
  securityHeaders,
} from '../../../test-kit/assert-problem.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const hsts = 'max-age=63072000; includeSubDomains';

/** One response of each kind that a client can provoke, by code. */
async function battery(app: TestApp): Promise<readonly (readonly [ErrorCode, ReturnType<typeof fromWire>])[]> {
  const post = (path: string, type: string, body: string) =>
    head(`POST ${path} HTTP/1.1`, 'Host: a', `Content-Type: ${type}`, `Content-Length: ${body.length}`) + body;
  const wire: readonly (readonly [ErrorCode, string])[] = [
    ['not_found', head('GET /nowhere HTTP/1.1', 'Host: a')],
    ['method_not_allowed', head('PUT /auth/token HTTP/1.1', 'Host: a', 'Content-Length: 0')],
    ['method_not_allowed', head('CONNECT /auth/token HTTP/1.1', 'Host: a')],
    ['missing_access_token', head('GET /auth/api-keys HTTP/1.1', 'Host: a')],
    ['invalid_access_token', head('GET /auth/api-keys HTTP/1.1', 'Host: a', 'Authorization: Bearer a')],
    ['ambiguous_credentials', head('GET /auth/api-keys HTTP/1.1', 'Host: a', 'X-API-Key: a', 'X-API-Key: b')],
    ['invalid_credentials', head('POST /auth/token HTTP/1.1', 'Host: a', 'Content-Length: 0')],
    ['missing_credential', head('GET /auth/forward HTTP/1.1', 'Host: a')],
    ['invalid_credential', head('GET /auth/forward HTTP/1.1', 'Host: a', 'X-API-Key: a')],
    ['invalid_service_key', post('/auth/verify', 'application/json', '{}')],
    ['invalid_refresh_token', post('/auth/token/refresh', 'application/json', '{"refreshToken":"a"}')],
    ['invalid_request', post('/auth/token/refresh', 'application/json', '{}')],
    ['malformed_json', post('/auth/token/refresh', 'application/json', '{')],
    ['unsupported_media_type', post('/auth/token/refresh', 'text/plain', '{}')],
    ['body_too_large', post('/auth/token/refresh', 'application/json', ' '.repeat(20_000))],
    ['url_too_long', head(`GET /${'x'.repeat(2_048)} HTTP/1.1`, 'Host: a')],
    ['headers_too_large', head('GET / HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`)],
    ['headers_too_large', head('GET / HTTP/1.1', 'Host: a', ...Array.from({ length: 100 }, () => 'X: y'))],
    ['malformed_request', head('GET / HTTP/1.1')],
    ['malformed_request', 'nonsense\r\n\r\n'],
  ];
  return Promise.all(wire.map(async ([code, bytes]) => [code, fromWire(await ask(app.url, bytes))] as const));
}

async function assertUnseen(app: TestApp, answer: Answered, inside: readonly string[]): Promise<void> {
  const { requestId, detail } = JSON.parse(answer.text) as { requestId: string; detail: string };
  assert.ok(detail.length > 0);
  for (const text of inside) assert.ok(!answer.text.includes(text), `${answer.text} tells ${text}`);
  const lines = app.logLines.filter((line) => line.includes(requestId));
  assert.equal(lines.length, 1);
  const { level, event, err } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([level, event], ['error', 'refused']);
  for (const text of inside) assert.ok(JSON.stringify(err).includes(text), `the log lacks ${text}`);
}

test(
  'every error response is a complete problem document with the security headers',
  { tags: ['asvs:3.2.1', 'asvs:3.4.3', 'asvs:3.4.4', 'asvs:3.4.5', 'asvs:3.4.6', 'asvs:4.1.1', 'asvs:14.3.2'] },
  async () => {
    await using app = await newApp();
    const ids = new Set<string>();
    const answers = await battery(app);
    for (const [code, answer] of answers) {
      ids.add(assertProblem(answer, code).requestId);
      assert.equal(answer.header('strict-transport-security'), null);
    }
    assert.equal(ids.size, answers.length, 'each has an id of its own');
  },
);

test('with an https URL, every response has Strict-Transport-Security', { tags: ['asvs:3.4.1'] }, async () => {
  await using app = await newApp({
    environment: { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' },
  });
  const pages = ['/health/live', '/docs', '/problems/not_found', '/openapi.json', '/.well-known/jwks.json'];
  const answers = (await battery(app)).map(([, answer]) => answer);
  for (const path of pages) answers.push(fromFetch(await app.call('GET', path)));
  for (const { header } of answers) assert.equal(header('strict-transport-security'), hsts);
});

test('the requestId of an error response is in the log', { tags: ['asvs:16.2.4'] }, async () => {
  await using app = await newApp();
  const refused = await app.call('GET', '/nowhere?token=secret', { headers: bearer('secret') });
  const { requestId } = assertProblem(fromFetch(refused), 'not_found');
  const line = JSON.parse(app.logLines.at(-1) ?? '') as Record<string, unknown>;
  const { event, method, status, code } = line;
  assert.deepEqual(
    { event, method, status, code, requestId: line['requestId'] },
    { event: 'refused', method: 'GET', status: 404, code: 'not_found', requestId },
  );
  assert.ok(!app.logLines.join('').includes('secret'));
});

test(
  'every error response has one line in the log with its requestId',
  { tags: ['asvs:16.2.1', 'asvs:16.2.4', 'asvs:16.3.2', 'asvs:16.3.3', 'asvs:16.4.1'] },
  async () => {
    await using app = await newApp();
    const answers = [...(await battery(app))];
    for (const [code, request] of [
      ['not_found', head('GET /nowhere HTTP/1.1', 'Host: a')],
      ['method_not_allowed', head('PUT /metrics HTTP/1.1', 'Host: a')],
      ['malformed_request', head('GET /metrics HTTP/1.1')],
      ['malformed_request', 'nonsense\r\n\r\n'],
    ] as const)
      answers.push([code, fromWire(await ask(app.service.adminUrl, request))]);
    const lines = app.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const [code, answer] of answers) {
      const { requestId } = assertProblem(answer, code);
      const found = lines.filter((line) => line['requestId'] === requestId);
      assert.deepEqual(
        found.map(({ level, event, status, code: logged }) => ({ level, event, status, code: logged })),
        // Anyone can send many verifications that are rejected, so the default level logs no line for each.
        [
          {
            level: found[0]?.['route'] === '/auth/forward' ? 'debug' : 'info',
            event: 'refused',
            status: errors[code].status,
            code,
          },
        ],
      );
    }
  },
);

test(
  'plain HTTP is rejected if the public URL is https and a trusted proxy reports it',
  { tags: ['asvs:4.1.2', 'asvs:12.2.1'] },
  async () => {
    const https = { KEYREEVE_PUBLIC_URL: 'https://auth.example.com' };
    const trusted = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.0/8, ::1' };
    const plain = { 'x-forwarded-proto': 'http' };
    await using app = await newApp({ environment: { ...https, ...trusted } });
    const { email } = await app.createAccount();
    const headers = { ...basic(email, goodPassword), ...plain };
    assertProblem(fromFetch(await app.call('POST', '/auth/token', { headers })), 'https_required');
    const secure = { ...basic(email, goodPassword), 'x-forwarded-proto': 'https' };
    assert.equal((await app.call('POST', '/auth/token', { headers: secure })).status, 200);
    await using untrusting = await newApp({ environment: { ...https, KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' } });
    assert.equal((await untrusting.call('GET', '/health/live', { headers: plain })).status, 200);
    await using local = await newApp({ environment: trusted });
    assert.equal((await local.call('GET', '/health/live', { headers: plain })).status, 200);
  },
);

test(
  'an unexpected failure returns 500 without details, and the log has its cause with the same id',
  { tags: ['asvs:13.4.2', 'asvs:16.3.4', 'asvs:16.5.1'] },
  async () => {
    class BrokenClock extends FakeClock {
      isBroken = false;
      override now(): number {
        if (this.isBroken) throw new Error('no time at /var/lib/secret-path');
        return super.now();
      }
    }
    const clock = new BrokenClock();
    await using app = await newApp({ clock });
    const { email } = await app.createAccount();
    const key = await app.serviceKey();
    clock.isBroken = true;
    const answers = [
      await app.call('POST', '/auth/token', { headers: basic(email, goodPassword) }),
      await app.call('POST', '/auth/verify', { headers: bearer(key), json: { credential: 'a' } }),
      await app.call('GET', '/auth/forward', { headers: bearer(key) }),
    ];
    for (const answer of answers) {
      assertProblem(fromFetch(answer), 'internal_error');
      await assertUnseen(app, answer, ['no time at', 'secret-path', 'errors.test.ts']);
    }
    clock.isBroken = false;
    assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200, 'it goes on');
  },
);

test(
  'while the database cannot be read, every verification returns 503',
  { tags: ['asvs:16.3.4', 'asvs:16.5.2', 'asvs:16.5.3'] },
  async () => {
    await using app = await newApp();
    const { accessToken, account } = await app.signIn();
    const service = bearer(await app.serviceKey());
    const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'a' } });
    const { key } = created.json as { key: string };
    assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200);
    const tables = ['api_keys', 'sessions', 'installation', 'rate_limit_buckets'];
    await app.db.transaction(async (tx) => {
      for (const table of tables) await tx.run(sql(`hide_${table}`, `alter table ${table} rename to hidden_${table}`));
    });
    const answers = [
      await app.call('GET', '/auth/forward', { headers: bearer(key) }),
      await app.call('GET', '/auth/forward', { headers: bearer(accessToken) }),
      await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) }),
      await app.call('POST', '/auth/verify', { headers: service, json: { credential: key } }),
      await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) }),
      await app.call('GET', '/health/ready'),
    ];
    for (const [index, answer] of answers.entries()) {
      assertProblem(fromFetch(answer), 'unavailable', String(index));
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.deepEqual(
        [...answer.headers.keys()].filter((name) => name.startsWith('x-keyreeve')),
        [],
      );
      await assertUnseen(app, answer, [app.place.kind === 'sqlite' ? 'no such table' : 'does not exist']);
    }
    for (const path of ['/health/live', '/.well-known/jwks.json']) {
      assert.equal((await app.call('GET', path)).status, 200, path);
    }
  },
);

const oauthOnly: readonly string[] = OAuthError.properties.error.enum.filter((code) => code !== 'invalid_request');

test(
  'every code has a page that explains it and loads nothing',
  { tags: ['asvs:2.1.2', 'asvs:3.4.3', 'asvs:3.4.6'] },
  async () => {
    await using app = await newApp();
    const escaped = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
    for (const [code, { title, status, cause, fix }] of Object.entries(errors)) {
      const page = await app.call('GET', `/problems/${code}`);
      assert.equal(page.status, 200, code);
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
      for (const text of [escaped(title), `<code>${code}</code>`, `<code>${status}</code>`])
        assert.ok(page.text.includes(text), code);
      for (const text of [cause, fix])
        assert.ok(page.text.includes(escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')), code);
      // The example is the problem document, or the error of the token endpoint (RFC 6749 section 5.2).
      const example = /<pre>[^]*?\n\n([^]*?)<\/pre>/.exec(page.text)?.[1]?.replaceAll('&quot;', '"') ?? '';
      const unescaped = example.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      const document = JSON.parse(unescaped) as Record<string, unknown>;
      const isOAuth = oauthOnly.includes(code);
      assert.ok(page.text.includes(`application/${isOAuth ? '' : 'problem+'}json;`), code);
      if (isOAuth) assert.deepEqual([Object.keys(document), document['error']], [['error', 'error_description'], code]);
      else
        assert.deepEqual([document['type'], document['status'], document['code']], [`/problems/${code}`, status, code]);
      const style = /<style>([^]*?)<\/style>/.exec(page.text)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
      const { 'content-security-policy': _, ...always } = securityHeaders;
      for (const [name, value] of Object.entries({ ...always, 'content-security-policy': policy })) {
        assert.equal(page.headers.get(name), value, `${code} ${name}`);
      }
    }
    assertProblem(fromFetch(await app.call('GET', '/problems/none_such')), 'not_found');
  },
);

test(
  'successful responses have the security headers',
  { tags: ['asvs:3.2.1', 'asvs:3.4.4', 'asvs:3.4.5', 'asvs:14.2.2', 'asvs:14.3.2'] },
  async () => {
    await using app = await newApp();
    const { accessToken, refreshToken } = await app.signIn();
    const headers = bearer(accessToken);
    const answers = [
      await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } }),
      await app.call('GET', '/auth/api-keys', { headers }),
      await app.call('GET', '/health/live'),
      await app.call('POST', '/auth/token/revoke', { json: { refreshToken } }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200, 204],
    );
    for (const answer of answers) assertSecurityHeaders(fromFetch(answer));
    assert.equal(answers[3]?.headers.get('content-length'), null);
    assertSecurityHeaders(fromFetch(await app.call('GET', '/openapi.json')), '', 'no-cache');
  },
);
