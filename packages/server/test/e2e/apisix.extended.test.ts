/**
 * The files in `docs/forward-auth/apisix/`. APISIX itself does not run here: the requests that its plugin forward-auth sends are
 * replayed to Keyreeve, and its two header lists are applied to the responses.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { readPage } from '../docs/shell-blocks.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { manifestsOf } from './kubernetes-envoy.ts';
import { send, values, type ProxyResponse } from './proxy-client.ts';
import { assertProblem } from './proxy-guarantees.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import { ambiguous, ordinary, unclean } from './proxy-paths.ts';
import { apiKey, bearer } from './proxy-setup.ts';
import { startedOnce } from './shared-keyreeve.ts';

type Headers = readonly (readonly [string, string])[];

interface Plugins {
  readonly 'uri-blocker': { block_rules: string[]; case_insensitive: boolean; rejected_code: number };
  readonly cors: Record<string, unknown>;
  readonly 'forward-auth': {
    uri: string;
    request_headers: string[];
    upstream_headers: string[];
    client_headers: string[];
    allow_degradation: boolean;
    status_on_error: number;
  };
  readonly 'proxy-rewrite': { headers: { remove: string[] } };
}

const text = readPage('docs/forward-auth/apisix/apisix.yaml');
const [{ routes }] = manifestsOf(text) as [{ routes: { plugins: Plugins }[] }];
const { plugins } = routes[0] as { plugins: Plugins };
const forwardAuth = plugins['forward-auth'];

const start = startedOnce(() => startKeyreeve());
let keyreeve: ForwardAuthServer;
beforeEach(async () => {
  keyreeve = await start();
});

interface Replayed {
  readonly status: number;
  /** The identity headers of the request to the backend; undefined for a rejection. */
  readonly toBackend?: Readonly<Record<string, string | undefined>>;
  /** The headers of a rejection. */
  readonly toClient?: Headers;
  readonly response: ProxyResponse;
}

/** As the plugin does: it sends its own headers and the first line of each listed one, and no query and body of the client. */
async function replay(
  client: Headers,
  { from = '203.0.113.9', uri = '/orders/1?x=y', method = 'POST' } = {},
): Promise<Replayed> {
  const own: Headers = [
    ['X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Method', method],
    ['X-Forwarded-Host', 'api.example.com'],
    ['X-Forwarded-Uri', uri],
    ['X-Forwarded-For', from],
    ['User-Agent', 'lua-resty-http/0.17.1 (Lua) ngx_lua/10028'],
  ];
  const listed = forwardAuth.request_headers.flatMap((name) => {
    const [first] = values(client, name);
    return first === undefined ? [] : [[name, first] as const];
  });
  const { pathname, search } = new URL(forwardAuth.uri);
  const response = await send(keyreeve.port, { path: pathname + search, headers: [...own, ...listed] });
  const { status, headers } = response;
  if (status >= 300) {
    const toClient = forwardAuth.client_headers.flatMap((name) =>
      values(headers, name).map((value) => [name, value] as const),
    );
    return { status, toClient, response };
  }
  const names = forwardAuth.upstream_headers.map((name) => [name, values(headers, name)[0]] as const);
  return { status, toBackend: Object.fromEntries(names), response };
}

test('a key reaches the backend behind APISIX with the complete identity', async () => {
  for (const credential of [bearer(keyreeve.ordersKey.key), apiKey(keyreeve.ordersKey.key)]) {
    const { status, toBackend, response } = await replay([credential]);
    assert.equal(status, 200);
    assert.deepEqual(toBackend, {
      'X-Keyreeve-Account': keyreeve.accountId,
      'X-Keyreeve-Credential': 'api_key',
      'X-Keyreeve-Key-Id': String(keyreeve.ordersKey.id),
      'X-Keyreeve-Nickname': 'orders',
      'X-Keyreeve-Scopes': 'orders:read',
      'X-Keyreeve-Environment': undefined,
    });
    // A new identity header must be in the list, or the client's own would reach the backend.
    const sent = response.headers.map(([name]) => name.toLowerCase()).filter((name) => name.startsWith('x-keyreeve-'));
    const listed = forwardAuth.upstream_headers.map((name) => name.toLowerCase());
    assert.deepEqual(
      sent.filter((name) => !listed.includes(name)),
      [],
    );
  }
});

test('the client behind APISIX receives the challenge, the problem document and the limits', async () => {
  const { key } = await keyreeve.createKey('once by APISIX', { limits: { quota: { limit: 1, per: 'month' } } });
  assert.equal((await replay([bearer(key)])).status, 200);
  for (const [client, status, code] of [
    [[], 401, 'missing_credential'],
    [[bearer('nonsense')], 401, 'invalid_credential'],
    [[bearer(key), apiKey(key)], 401, 'ambiguous_credentials'],
    [[bearer(key)], 429, 'quota_exceeded'],
  ] as const) {
    const { toClient = [], response } = await replay(client);
    assertProblem({ ...response, headers: toClient }, status, code);
    assert.equal(values(toClient, 'WWW-Authenticate').length, status === 401 ? 1 : 0);
    const limits = ['Retry-After', 'RateLimit', 'RateLimit-Policy'].map((name) => values(toClient, name).length);
    assert.deepEqual(limits, status === 429 ? [1, 1, 1] : [0, 0, 0]);
    assert.deepEqual(values(toClient, 'Cache-Control'), ['no-store']);
  }
});

test('the client IP is that of APISIX, and no other of its headers has an effect', async () => {
  const { key } = await keyreeve.createKey('limited by APISIX', { addresses: ['203.0.113.0/24'] });
  assert.equal((await replay([bearer(key), ['X-Forwarded-For', '198.51.100.1']])).status, 200);
  assert.equal((await replay([bearer(key), ['X-Forwarded-For', '203.0.113.9']], { from: '198.51.100.1' })).status, 403);
  for (const uri of ['/auth/forward?scope=missing:scope', '/?cost=x&environment=y&limited=403', '/%zz\\..//'])
    for (const method of ['TRACE', 'CONNECT', 'OPTIONS'])
      assert.equal((await replay([bearer(keyreeve.key.key)], { uri, method })).status, 200, `${method} ${uri}`);
});

test('the next request after the deletion of a key is rejected behind APISIX', async () => {
  const { id, key } = await keyreeve.createKey('deleted by APISIX');
  assert.equal((await replay([bearer(key)])).status, 200);
  await keyreeve.deleteKey(id);
  assert.equal((await replay([bearer(key)])).status, 401);
});

test('the file for APISIX rejects ambiguous paths only, fails closed and removes the credential', () => {
  const { block_rules: rules, case_insensitive: isCaseInsensitive, rejected_code: code } = plugins['uri-blocker'];
  const blocks = (path: string): boolean =>
    rules.some((rule) => new RegExp(rule, isCaseInsensitive ? 'i' : '').test(path));
  assert.deepEqual(
    [...ambiguous, ...unclean.map(([path]) => path)].filter((path) => !blocks(path)),
    [],
  );
  assert.deepEqual(ordinary.filter(blocks), []);
  assert.equal(code, 400);
  assert.deepEqual([forwardAuth.allow_degradation, forwardAuth.status_on_error], [false, 503]);
  assert.deepEqual(plugins['proxy-rewrite'].headers.remove, forwardAuth.request_headers);
  assert.equal(plugins.cors['allow_credential'], false);
  // APISIX ignores a file without it.
  assert.ok(text.endsWith('\n#END\n'));
  const [config] = manifestsOf(readPage('docs/forward-auth/apisix/config.yaml'));
  assert.equal(config.nginx_config.http.underscores_in_headers, 'off');
});
