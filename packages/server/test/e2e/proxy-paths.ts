/**
 * Guarantees of each configuration in `docs/forward-auth/` about paths: a path that the proxy and a backend could interpret
 * differently is rejected, so that no spelling of a path avoids a rule for it.
 */
import assert from 'node:assert/strict';
import { ask, head } from '../../test-kit/raw-http.ts';
import { bearer, identity, identityOfKey, assertForwarded, assertRejected, type ProxySetup } from './proxy-setup.ts';

/** Each has two interpretations. Sent as bytes, because client libraries reject some of them. */
export const ambiguous = [
  // Backslashes, which Windows and some routers treat as slashes.
  ['/%5corders', '/orders%5C1', '/x%5C..%5Corders'],
  // Double encoding, for a backend that decodes twice.
  ['/%256frders', '/orders%252f1', '/x/%252e%252e/orders', '/100%25'],
  // An encoded slash is data to one program and a separator to another.
  ['/orders%2f1', '/%2Forders', '/x%2f..%2forders'],
  // Trailing blanks and dots, which Windows and some frameworks remove.
  ['/orders%20', '/orders%20/1', '/orders%20?x', '/orders%09'],
  ['/orders.', '/orders./1', '/orders%2e', '/orders%2E/1', '/.../orders', '/orders.?x=y'],
  // NUL, which ends a string in C, and other control characters.
  ['/orders%00', '/orders%00.png', '/%00/orders', '/orders\0', '/orders%0a', '/orders%0D', '/orders%7f', '/orders\x01'],
  // Delimiters that can end the path: parameters of a segment, a fragment, a query.
  ['/orders;x', '/orders%3bx=y', '/;x/orders', '/orders%23', '/orders%3fx'],
  // Overlong UTF-8 of "/" and ".", and invalid escapes.
  ['/x%c0%aforders', '/%c0%ae%c0%ae/orders', '/x%e0%80%aforders', '/x%f0%80%80%aforders'],
  ['/orders%', '/orders%2', '/%zz', '/%2/orders', '/orders%?x'],
].flat();

/** Envoy and Traefik may forward these in their clean form, which is unambiguous; the others reject them. */
export const unclean: readonly (readonly [string, string])[] = [
  ['//orders/1', '/orders/1'],
  ['/orders//1', '/orders/1'],
  ['/./orders/1', '/orders/1'],
  ['/x/../orders/1', '/orders/1'],
  ['/x/%2e%2e/orders/1', '/orders/1'],
  ['/orders/%2e/1', '/orders/1'],
  ['/orders/x/../1', '/orders/1'],
  ['/\\orders/1', '/orders/1'],
  ['/orders\\1', '/orders/1'],
];

/** Other spellings of the path of the rule. */
const spellingsOfOrders = [
  ['/orders', '/orders?x=y', '/%6frders', '/%6Frders/1', '/ORDERS', '/Orders/1', '/%4frders'],
  ['http://localhost/orders', 'HTTP://localhost/orders/1', 'http://localhost/%6frders'],
  ['/orders ', '/orders\t'],
].flat();

/** Paths of ordinary APIs, which must be accepted. */
export const ordinary = [
  '/caf%C3%A9/a%20b.txt?next=%2Fhome&n=1',
  '/.well-known/x.y/a..b/..c',
  "/~a/@b:c,d!$&'()*+=e",
  '/%D0%B9/%E4%B8%AD/%F0%9F%94%91/%E0%A4%85',
  '/x?path=%2e%2e//%5c%25%00%c0%af\\./',
];

async function status(setup: ProxySetup, path: string, secret: string): Promise<number> {
  const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${secret}`, 'Connection: close'];
  return (await ask(setup.url, head(...lines))).status;
}

export const guaranteesOfPaths: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'an ambiguous path is rejected': async (setup) => {
    const statuses = await Promise.all(
      ambiguous.map(async (path) => [path, await status(setup, path, setup.keyreeve.ordersKey.key)] as const),
    );
    assert.deepEqual(
      statuses.filter(([, received]) => received !== 400),
      [],
    );
    assert.deepEqual(setup.backend.takeRequests(), []);
  },

  'a path with dot segments or empty segments is rejected, or reaches the backend in its clean form': async (setup) => {
    for (const [path, clean] of unclean) {
      const received = await status(setup, path, setup.keyreeve.ordersKey.key);
      const reached = setup.backend.takeRequests().map(({ url }) => url);
      const isCleaned = setup.proxy.cleansPaths && received === 200;
      assert.deepEqual([received, reached], isCleaned ? [200, [clean]] : [400, []], path);
    }
  },

  'a path with trailing blanks is rejected, or reaches the backend without them': async (setup) => {
    for (const blank of [' ', '\t', '  \t']) {
      const received = await status(setup, `/orders${blank}`, setup.keyreeve.ordersKey.key);
      const reached = setup.backend.takeRequests().map(({ url }) => url);
      assert.deepEqual([received, reached], received === 200 ? [200, ['/orders']] : [400, []]);
    }
  },

  'an ordinary path reaches the backend unchanged': async (setup) => {
    for (const path of ordinary) {
      assert.equal(await status(setup, path, setup.keyreeve.key.key), 200, path);
      assert.deepEqual(
        setup.backend.takeRequests().map(({ url }) => url),
        [path],
      );
    }
  },
};

/** Not for Envoy: its file has no rule by path. */
export const guaranteesOfRulesByPath: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'a key without the scope gets 403, and one with it reaches the backend': async (setup) => {
    await assertRejected(setup, { path: '/orders/1', headers: [bearer(setup.keyreeve.key.key)] }, [403]);
    const reached = await assertForwarded(setup, {
      path: '/orders/1?x=y',
      headers: [bearer(setup.keyreeve.ordersKey.key)],
    });
    assert.equal(reached.url, '/orders/1?x=y');
    assert.deepEqual(identity(reached), identityOfKey(setup.keyreeve, setup.keyreeve.ordersKey, 'orders:read'));
    await assertRejected(setup, { path: '/orders/1' }, [401]);
  },

  'no spelling of a path avoids the scope that it requires': async (setup) => {
    const spellings = [...spellingsOfOrders, ...ambiguous, ...unclean.map(([path]) => path)];
    const statuses = await Promise.all(
      spellings.map(async (path) => [path, await status(setup, path, setup.keyreeve.key.key)] as const),
    );
    assert.deepEqual(
      statuses.filter(([, received]) => received !== 400 && received !== 403),
      [],
    );
    assert.deepEqual(setup.backend.takeRequests(), []);
  },
};
