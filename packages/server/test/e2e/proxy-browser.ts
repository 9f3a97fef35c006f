/**
 * What each configuration in `docs/forward-auth/` promises to pages in browsers: the proxy answers the CORS preflight of a
 * listed origin, which carries no credential, and only the proxy decides which origins may read a response.
 */
import assert from 'node:assert/strict';
import { values, type Answer } from './proxy-client.ts';
import { bearer, refused, type Stage } from './proxy-stage.ts';

/** In every file, as an example. */
const listed = 'https://app.example.com';
/** Each is close to the listed one. */
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
const allowedOrigin = ({ headers }: Answer): string[] => values(headers, 'Access-Control-Allow-Origin');

/** A browser sends a credential of its own with none of these responses: cookies play no part. */
function assertNoCookies({ headers }: Answer): void {
  assert.deepEqual(values(headers, 'Access-Control-Allow-Credentials'), []);
}

export const guaranteesForBrowsers: Record<string, (stage: Stage) => Promise<void>> = {
  'the preflight of a listed origin is answered without a credential, and stays in the proxy': async (stage) => {
    stage.tap.taken();
    for (const path of ['/', '/orders/1?x=y']) {
      const answer = await stage.ask({ method: 'OPTIONS', path, headers: preflight(listed) });
      assert.ok(answer.status === 200 || answer.status === 204, `${answer.status}`);
      assert.deepEqual(allowedOrigin(answer), [listed]);
      const methods = names(values(answer.headers, 'Access-Control-Allow-Methods').join());
      assert.deepEqual(methods.toSorted(), ['delete', 'get', 'head', 'patch', 'post', 'put']);
      const headers = names(values(answer.headers, 'Access-Control-Allow-Headers').join());
      assert.deepEqual(headers.toSorted(), ['authorization', 'content-type', 'x-api-key']);
      assert.deepEqual(values(answer.headers, 'Access-Control-Max-Age'), ['600']);
      assertNoCookies(answer);
    }
    assert.deepEqual([stage.backend.taken(), stage.tap.taken()], [[], '']);
  },

  'the preflight of any other origin is not allowed, and never reaches the backend': async (stage) => {
    for (const origin of unlisted) {
      const answer = await stage.ask({ method: 'OPTIONS', path: '/orders/1', headers: preflight(origin) });
      assert.deepEqual([allowedOrigin(answer), stage.backend.taken()], [[], []], origin);
      assertNoCookies(answer);
    }
  },

  'what is not a preflight needs a credential, whatever its origin': async (stage) => {
    const [origin, method] = preflight(listed) as [readonly [string, string], readonly [string, string]];
    await refused(stage, { method: 'OPTIONS', headers: [origin] }, [401]);
    await refused(stage, { method: 'OPTIONS', headers: [method] }, [401]);
    for (const other of ['GET', 'HEAD', 'POST', 'DELETE', 'PROPFIND']) {
      await refused(stage, { method: other, headers: preflight(listed) }, [400, 401, 405, 501]);
    }
  },

  'a listed origin may read responses and rejections; the backend’s own CORS headers are dropped': async (stage) => {
    const { key } = stage.keyreeve.key;
    for (const headers of [[bearer(key)], [bearer('nonsense')], []]) {
      const answer = await stage.ask({ headers: [...headers, ['Origin', listed]] });
      assert.deepEqual(allowedOrigin(answer), [listed], JSON.stringify(answer));
      assert.match(values(answer.headers, 'Vary').join(), /\borigin\b/i);
      assert.match(values(answer.headers, 'Access-Control-Expose-Headers').join(), /www-authenticate/i);
      assertNoCookies(answer);
    }
    for (const origin of unlisted) {
      const answer = await stage.ask({ headers: [bearer(key), ['Origin', origin]] });
      assert.deepEqual([answer.status, allowedOrigin(answer)], [200, []], origin);
      assertNoCookies(answer);
    }
    stage.backend.taken();
    const withoutOrigin = await stage.ask({ headers: [bearer(key)] });
    assert.deepEqual(allowedOrigin(withoutOrigin), []);
    stage.backend.taken();
  },

  'a WebSocket opens with a credential and carries bytes both ways; without one it is rejected': async (stage) => {
    const { key } = stage.keyreeve.key;
    assert.equal(await stage.echo('/ws/chat', [bearer(key)], 'hello'), 'hello');
    const [reached, ...more] = stage.backend.taken();
    assert.deepEqual([reached?.url, more], ['/ws/chat', []]);
    assert.deepEqual(values(reached?.headers ?? [], 'Authorization'), []);
    assert.deepEqual(values(reached?.headers ?? [], 'X-Keyreeve-Account'), [stage.keyreeve.accountId]);
    assert.equal(await stage.echo('/ws/chat', [bearer('nonsense')], 'hello'), 401);
    assert.deepEqual(stage.backend.taken(), []);
  },

  'an upgrade to HTTP/2 never reaches the backend as one': async (stage) => {
    const headers = [['Upgrade', 'h2c'] as const, ['Connection', 'Upgrade, HTTP2-Settings'] as const];
    const answer = await stage.ask({ headers: [bearer(stage.keyreeve.key.key), ...headers] });
    const upgrades = stage.backend.taken().flatMap((reached) => values(reached.headers, 'Upgrade'));
    assert.deepEqual(upgrades, [], `${answer.status}`);
  },
};
