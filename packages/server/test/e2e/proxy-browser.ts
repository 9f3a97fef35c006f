/**
 * Guarantees of each configuration in `docs/forward-auth/` for browsers: the proxy answers the CORS preflight of a listed
 * origin, which has no credential, and only the proxy decides which origins can read a response.
 */
import assert from 'node:assert/strict';
import { values, type ProxyResponse } from './proxy-client.ts';
import { bearer, assertRejected, type ProxySetup } from './proxy-setup.ts';

/** The example origin in every file. */
const listed = 'https://app.example.com';

/** Similar to the listed one. */
const unlisted = [
  'https://evil.example',
  'http://app.example.com',
  'https://app.example.com.evil.example',
  'https://app.example.com:8443',
  'https://evil-app.example.com',
  'https://appxexample.com',
  'null',
];

const preflight = (origin: string): (readonly [string, string])[] => [
  ['Origin', origin],
  ['Access-Control-Request-Method', 'PUT'],
  ['Access-Control-Request-Headers', 'authorization,content-type'],
];

const names = (text: string): string[] => text.split(',').map((name) => name.trim().toLowerCase());
const allowedOrigin = ({ headers }: ProxyResponse): string[] => values(headers, 'Access-Control-Allow-Origin');

/** Browsers must not send cookies, so no response permits credentials. */
function assertNoCookies({ headers }: ProxyResponse): void {
  assert.deepEqual(values(headers, 'Access-Control-Allow-Credentials'), []);
}

export const guaranteesForBrowsers: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'the proxy answers the preflight of a listed origin without a credential': async (setup) => {
    setup.tap.takeRecorded();
    for (const path of ['/', '/orders/1?x=y']) {
      const response = await setup.send({ method: 'OPTIONS', path, headers: preflight(listed) });
      assert.ok(response.status === 200 || response.status === 204, `${response.status}`);
      assert.deepEqual(allowedOrigin(response), [listed]);
      const methods = names(values(response.headers, 'Access-Control-Allow-Methods').join());
      assert.deepEqual(methods.toSorted(), ['delete', 'get', 'head', 'patch', 'post', 'put']);
      const headers = names(values(response.headers, 'Access-Control-Allow-Headers').join());
      assert.deepEqual(headers.toSorted(), ['authorization', 'content-type', 'x-api-key']);
      assert.deepEqual(values(response.headers, 'Access-Control-Max-Age'), ['600']);
      assertNoCookies(response);
    }
    assert.deepEqual([setup.backend.takeRequests(), setup.tap.takeRecorded()], [[], '']);
  },

  'the preflight of any other origin is not allowed, and never reaches the backend': async (setup) => {
    for (const origin of unlisted) {
      const response = await setup.send({ method: 'OPTIONS', path: '/orders/1', headers: preflight(origin) });
      assert.deepEqual([allowedOrigin(response), setup.backend.takeRequests()], [[], []], origin);
      assertNoCookies(response);
    }
  },

  'a request that is not a preflight needs a credential, with any origin': async (setup) => {
    const [origin, method] = preflight(listed) as [readonly [string, string], readonly [string, string]];
    await assertRejected(setup, { method: 'OPTIONS', headers: [origin] }, [401]);
    await assertRejected(setup, { method: 'OPTIONS', headers: [method] }, [401]);
    for (const other of ['GET', 'HEAD', 'POST', 'DELETE', 'PROPFIND']) {
      await assertRejected(setup, { method: other, headers: preflight(listed) }, [400, 401, 405, 501]);
    }
  },

  'a listed origin may read responses and rejections; the backend’s own CORS headers are dropped': async (setup) => {
    const { key } = setup.keyreeve.key;
    for (const headers of [[bearer(key)], [bearer('nonsense')], []]) {
      const response = await setup.send({ headers: [...headers, ['Origin', listed]] });
      assert.deepEqual(allowedOrigin(response), [listed], JSON.stringify(response));
      assert.match(values(response.headers, 'Vary').join(), /\borigin\b/i);
      assert.match(values(response.headers, 'Access-Control-Expose-Headers').join(), /www-authenticate/i);
      assertNoCookies(response);
    }
    for (const origin of unlisted) {
      const response = await setup.send({ headers: [bearer(key), ['Origin', origin]] });
      assert.deepEqual([response.status, allowedOrigin(response)], [200, []], origin);
      assertNoCookies(response);
    }
    setup.backend.takeRequests();
    const withoutOrigin = await setup.send({ headers: [bearer(key)] });
    assert.deepEqual(allowedOrigin(withoutOrigin), []);
    setup.backend.takeRequests();
  },

  'a WebSocket opens with a credential and carries bytes both ways; without one it is rejected': async (setup) => {
    const { key } = setup.keyreeve.key;
    assert.equal(await setup.echo('/ws/chat', [bearer(key)], 'hello'), 'hello');
    const [reached, ...more] = setup.backend.takeRequests();
    assert.deepEqual([reached?.url, more], ['/ws/chat', []]);
    assert.deepEqual(values(reached?.headers ?? [], 'Authorization'), []);
    assert.deepEqual(values(reached?.headers ?? [], 'X-Keyreeve-Account'), [setup.keyreeve.accountId]);
    assert.equal(await setup.echo('/ws/chat', [bearer('nonsense')], 'hello'), 401);
    assert.deepEqual(setup.backend.takeRequests(), []);
  },

  'an upgrade to HTTP/2 never reaches the backend as one': async (setup) => {
    const headers = [['Upgrade', 'h2c'] as const, ['Connection', 'Upgrade, HTTP2-Settings'] as const];
    const response = await setup.send({ headers: [bearer(setup.keyreeve.key.key), ...headers] });
    const upgrades = setup.backend.takeRequests().flatMap((reached) => values(reached.headers, 'Upgrade'));
    assert.deepEqual(upgrades, [], `${response.status}`);
  },
};
