/** Cross-origin requests: only exact origins on the list are allowed, and never cookies. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { bearer, newApp, type Answered } from '../../../test-kit/new-app.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const listed = 'https://app.example.com';
const KEYREEVE_CORS_ORIGINS = `${listed}, http://localhost:3000`;

const otherOrigins = [
  'https://evil.example',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://app.example.com.evil.example',
  'https://evilapp.example.com',
  'https://sub.app.example.com',
  'https://APP.example.com',
  'https://app.example.com/',
  'https://app.example.com, https://evil.example',
  'null',
  '*',
  '',
];

const corsHeaders = ({ headers }: Answered): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

const preflight = (method: string): Record<string, string> => ({
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization, content-type',
});

const allowedHeaders =
  'Authorization, Content-Type, X-API-Key, X-Keyreeve-OTP, traceparent, tracestate, baggage, sentry-trace, b3, ' +
  'X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled, X-B3-Flags, uber-trace-id, X-Datadog-Trace-Id, ' +
  'X-Datadog-Parent-Id, X-Datadog-Sampling-Priority, X-Datadog-Sampled, X-Datadog-Origin, X-Datadog-Tags, ' +
  'elastic-apm-traceparent, newrelic, Request-Id, Request-Context, X-Amzn-Trace-Id, X-Cloud-Trace-Context, X-dtc, X-dtpc, ' +
  'X-INSTANA-T, X-INSTANA-S, X-INSTANA-L, ADRUM, X-Request-Id, X-Correlation-Id';

const paths = ['/health/live', '/auth/api-keys', '/auth/token', '/nowhere'];

test('without a list, no origin is allowed', { tags: ['asvs:3.4.2', 'asvs:3.5.1'] }, async () => {
  await using app = await newApp();
  for (const path of paths) {
    const answers = [
      await app.call('GET', path, { headers: { origin: listed } }),
      await app.call('OPTIONS', path, { headers: { origin: listed, ...preflight('POST') } }),
    ];
    for (const answer of answers) assert.deepEqual(corsHeaders(answer), {}, path);
    assert.ok([404, 405].includes(answers[1]?.status ?? 0), path);
  }
});

test('a listed origin can read responses, including errors, without cookies', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
  const { accessToken } = await app.signIn();
  const origin = { origin: listed };
  const answers = [
    await app.call('GET', '/auth/api-keys', { headers: { ...origin, ...bearer(accessToken) } }),
    await app.call('POST', '/auth/api-keys', { headers: { ...origin, ...bearer(accessToken) }, json: {} }),
    await app.call('POST', '/auth/token', { headers: origin }),
    await app.call('PUT', '/auth/token', { headers: origin }),
    await app.call('GET', '/nowhere', { headers: { ...origin, cookie: 'a=b' } }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 401, 405, 404],
  );
  for (const answer of answers) {
    assert.deepEqual(corsHeaders(answer), {
      vary: 'Origin',
      'access-control-allow-origin': listed,
      'access-control-expose-headers': 'Location, Retry-After, RateLimit, RateLimit-Policy',
    });
  }
  const second = await app.call('GET', '/health/live', { headers: { origin: 'http://localhost:3000' } });
  assert.equal(second.headers.get('access-control-allow-origin'), 'http://localhost:3000');
});

test('a preflight from a listed origin gets the methods of the path', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
  const table = {
    '/auth/api-keys': ['GET, HEAD, POST', 'POST, GET, HEAD'],
    '/auth/api-keys/4711': ['GET, HEAD, PATCH, DELETE'],
    '/auth/token': ['POST'],
  };
  for (const [path, allowed] of Object.entries(table)) {
    const answer = await app.call('OPTIONS', path, { headers: { origin: listed, ...preflight('DELETE') } });
    assert.deepEqual([answer.status, answer.text], [204, ''], path);
    const { 'access-control-allow-methods': methods = '', ...others } = corsHeaders(answer);
    assert.ok(allowed.includes(methods), `${path}: ${methods}`);
    assert.deepEqual(others, {
      vary: 'Origin',
      'access-control-allow-origin': listed,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '600',
      'access-control-expose-headers': 'Location, Retry-After, RateLimit, RateLimit-Policy',
    });
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

test('a preflight never allows a header because it names it', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
  const named = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-forwarded-for, x-evil',
  };
  const answer = await app.call('OPTIONS', '/auth/token', { headers: { origin: listed, ...named } });
  assert.equal(answer.headers.get('access-control-allow-headers'), allowedHeaders);
  assert.doesNotMatch(allowedHeaders, /forwarded|real-ip|keyreeve-(?!otp)|cookie|host|\*/i);
});

test('the origin of an app is compared as text', async () => {
  const apps = ['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'];
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS: apps.join() } });
  const preflightOf = (origin: string): Promise<Answered> =>
    app.call('OPTIONS', '/auth/api-keys', { headers: { origin, ...preflight('POST') } });
  for (const origin of apps) {
    const answer = await preflightOf(origin);
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [204, origin]);
  }
  const others = [
    'null',
    'ionic://localhost',
    'http://localhost',
    'capacitor://localhost/',
    'capacitor://localhost:1',
    'Capacitor://localhost',
    'capacitor://LOCALHOST',
    'capacitor://localhost.evil.example',
    'chrome-extension://bbcdefghijklmnopabcdefghijklmnop',
  ];
  for (const origin of others) {
    const answer = await preflightOf(origin);
    assert.deepEqual([answer.status, corsHeaders(answer)], [405, { vary: 'Origin' }], origin);
  }
});

test('a listed origin can read the response to a request that no route receives', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
  const allowed = { 'access-control-allow-origin': [listed] };
  const table: readonly (readonly [bytes: string, status: number, allowed: object])[] = [
    [head('GET /health/live HTTP/1.1', 'Host: a', 'Host: b', `Origin: ${listed}`), 400, allowed],
    [head('GET /health/live HTTP/1.1', 'Host: a', 'Host: b', 'Origin: https://evil.example'), 400, {}],
    [head('GET /health/live HTTP/1.1', 'Host: a', 'Host: b'), 400, {}],
    [head('GET /console/config HTTP/1.1', 'Host: a', 'Host: b', `Origin: ${listed}`), 400, {}],
    [head('GET http://b/console/config HTTP/1.1', 'Host: a', `Origin: ${listed}`), 400, {}],
    [head('GET /health/live HTTP/1.1', 'Host: a', `Origin: ${listed}`, ...Array(100).fill('X: a')), 431, allowed],
    [head(`GET /${'a'.repeat(limits.urlCharsMax)} HTTP/1.1`, 'Host: a', `Origin: ${listed}`), 414, allowed],
  ];
  for (const [bytes, status, expected] of table) {
    const answer = await ask(app.url, bytes);
    const found = [...answer.headers].filter(([name]) => name === 'access-control-allow-origin');
    assert.deepEqual([answer.status, Object.fromEntries(found)], [status, expected], bytes.slice(0, 100));
  }
});

test(
  'an origin that resembles a listed one is not allowed, and the response varies by origin',
  { tags: ['asvs:3.4.2', 'asvs:3.5.2'] },
  async () => {
    await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
    for (const origin of otherOrigins) {
      const simple = await app.call('GET', '/health/live', { headers: { origin } });
      assert.deepEqual([simple.status, corsHeaders(simple)], [200, { vary: 'Origin' }], origin);
      const response = await app.call('OPTIONS', '/auth/token', { headers: { origin, ...preflight('POST') } });
      assert.deepEqual([response.status, corsHeaders(response)], [405, { vary: 'Origin' }], origin);
    }
    const without = await app.call('GET', '/health/live');
    assert.deepEqual(corsHeaders(without), { vary: 'Origin' });
  },
);

test('an OPTIONS request that is no preflight is handled like other methods', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CORS_ORIGINS } });
  const plain = await app.call('OPTIONS', '/auth/token', { headers: { origin: listed } });
  assert.deepEqual([plain.status, plain.headers.get('allow')], [405, 'POST']);
  const nowhere = await app.call('OPTIONS', '/nowhere', { headers: { origin: listed, ...preflight('POST') } });
  assert.equal(nowhere.status, 404);
  // That route verifies the credential for any method, and a preflight has none.
  const forward = await app.call('OPTIONS', '/auth/forward', { headers: { origin: listed, ...preflight('GET') } });
  assert.deepEqual([forward.status, corsHeaders(forward)], [401, {}]);
});
