/** The service has only the methods and paths of the contract. */
import assert from 'node:assert/strict';
import { allRoutes, forward } from '@keyreeve/contract';
import { newApp } from '../../../test-kit/new-app.ts';
import { assertProblem, assertSecurityHeaders, fromFetch, fromWire } from '../../../test-kit/assert-problem.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';
import { optionalRoutes } from '../../../test-kit/optional-routes.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'PURGE'];

const unknownPaths = [
  '/admin',
  '/metrics',
  '/.env',
  '/.git/config',
  '/favicon.ico',
  '/robots.txt',
  '/server-status',
  '/debug/pprof',
  '/health',
  '/health/',
  '/health/live/',
  '/auth',
  '/auth/',
  '/auth/token/',
  '/auth//token',
  '/auth/./token',
  '/auth/../auth/token',
  '/auth%2ftoken',
  '/auth/%74oken',
  '/AUTH/TOKEN',
  '/auth/token;a=b',
  '/auth/token.json',
  '/auth/api-keys/',
  '/auth/api-keys/1/2',
  '/auth/verify/batch/',
  '/openapi.yaml',
  '/docs/index',
  '/problems',
  '/problems/',
  '/problems/nothing',
  '/problems/__proto__',
  '/problems/constructor',
  '/problems/toString',
  '/problems/invalid_request/',
  '/problems/Invalid_Request',
  '/problems/..%2f..%2fetc%2fpasswd',
  '/.well-known/',
  '/.well-known/openid-configuration',
  '/.well-known/security.txt',
];

/** Whether a path of the contract has the other one as an instance, such as `/keys/:id` and `/keys/public`. */
const includes = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);

/** The methods of the contract by path, with sample parameters. */
const declared = new Map(
  [...new Set(allRoutes.map(({ path }) => path))]
    .filter((path) => path !== forward.path)
    .map((path) => [
      path.replace(':id', '4711').replace(':code', 'not_found'),
      allRoutes
        .filter((route) => route.path === path || includes(route.path, path.replaceAll(':', '')))
        .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    ]),
);

test(
  'a method that a path does not have gets 405, with the methods of the path in Allow and in the detail',
  { tags: ['asvs:3.5.3', 'asvs:7.6.2'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    assert.equal(declared.size, new Set(allRoutes.map(({ path }) => path)).size - 1);
    for (const [path, allowed] of declared) {
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const refused = await ask(app.url, head(`${method} ${path} HTTP/1.1`, 'Host: a', 'Content-Length: 0'));
        const { detail } = assertProblem(fromWire(refused), 'method_not_allowed', `${method} ${path}`);
        const named = refused.headers.get('allow')?.[0]?.split(', ') ?? [];
        assert.deepEqual(named.toSorted(), allowed.toSorted(), path);
        assert.equal(detail, `This URL accepts ${new Intl.ListFormat('en').format(named)}.`);
      }
      const unknown = await ask(app.url, head(`BREW ${path} HTTP/1.1`, 'Host: a'));
      assertProblem(fromWire(unknown), 'malformed_request', path);
      if (allowed.includes('HEAD')) continue;
      const noHead = await app.call('HEAD', path);
      assert.deepEqual([noHead.status, noHead.headers.get('allow'), noHead.text], [405, allowed.join(', '), ''], path);
    }
  },
);

test('a method of the contract never gets 405', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  for (const [path, allowed] of declared) {
    for (const method of allowed) assert.notEqual((await app.call(method, path)).status, 405, `${method} ${path}`);
  }
});

test('HEAD gets the response of GET without the body', async () => {
  await using app = await newApp({ environment: optionalRoutes });
  for (const [path, allowed] of declared) {
    if (!allowed.includes('HEAD')) continue;
    const [got, only] = [await app.call('GET', path), await app.call('HEAD', path)];
    const comparable = ({ headers }: typeof got) =>
      [...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
    assert.deepEqual([only.status, only.text], [got.status, ''], path);
    assert.deepEqual(comparable(only), comparable(got), path);
  }
});

test('TRACE does not echo the request', { tags: ['asvs:13.4.4'] }, async () => {
  await using app = await newApp();
  for (const path of ['/', '/auth/token', '/auth/forward']) {
    const refused = await ask(
      app.url,
      head(`TRACE ${path} HTTP/1.1`, 'Host: a', 'Cookie: canary=1', 'X-Canary: canary'),
    );
    assert.ok([404, 405].includes(refused.status));
    assert.ok(!`${refused.body}${JSON.stringify([...refused.headers])}`.includes('canary'), path);
  }
});

test('CONNECT to another host gets 404', async () => {
  await using app = await newApp();
  for (const target of ['evil.example:443', '127.0.0.1:22']) {
    assertProblem(
      fromWire(await ask(app.url, head(`CONNECT ${target} HTTP/1.1`, `Host: ${target}`))),
      'not_found',
      target,
    );
  }
});

test('an unknown path gets 404, also with an access token', { tags: ['asvs:13.4.1', 'asvs:13.4.3'] }, async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  for (const path of unknownPaths) {
    // Below /problems/, the method is checked before the page is looked up.
    for (const method of /^\/problems\/[^/]+$/.test(path) ? ['GET'] : ['GET', 'POST', 'OPTIONS']) {
      const lines = [
        `${method} ${path} HTTP/1.1`,
        'Host: a',
        `Authorization: Bearer ${accessToken}`,
        'Content-Length: 0',
      ];
      assertProblem(fromWire(await ask(app.url, head(...lines))), 'not_found', `${method} ${path}`);
    }
  }
});

test(
  'the admin listener serves only metrics and health, and only it serves metrics',
  { tags: ['asvs:13.4.5'] },
  async () => {
    await using app = await newApp();
    const admin = app.service.adminUrl;
    const get = async (path: string, method = 'GET') => {
      const response = await fetch(new URL(path, admin), { method });
      return fromFetch({ status: response.status, headers: response.headers, text: await response.text() });
    };
    for (const [path, text] of [
      ['/metrics', /^# HELP /],
      ['/health/live', /^\{"status":"ok"\}$/],
      ['/health/ready', /^\{"status":"ok","writes":true\}$/],
    ] as const) {
      const answer = await get(path);
      assert.equal(answer.status, 200, path);
      assert.match(answer.text, text);
      assertSecurityHeaders(answer, path);
      assert.equal((await get(path, 'HEAD')).status, 200, path);
      const refused = await get(path, 'POST');
      assert.deepEqual([refused.status, refused.header('allow')], [405, 'GET, HEAD'], path);
      assertSecurityHeaders(refused, path);
    }
    const publicPaths = [...declared.keys()].filter((path) => !path.startsWith('/health/'));
    for (const path of [...publicPaths, '/auth/forward', '/metrics/', '/']) {
      assertProblem(await get(path), 'not_found', path);
    }
  },
);
