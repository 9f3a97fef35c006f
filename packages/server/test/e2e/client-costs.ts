/**
 * The query of a client in a request of Envoy, whose `path_prefix` form sends the client's path and query to Keyreeve. A client must
 * not be able to reduce what the operator requires.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Edit } from '../revocation-check/mutant-edits.ts';
import { send, values } from './proxy-client.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';
import { runChecks } from './proxy-run.ts';
import { bearer, envoyHeaders, type ProxySetup } from './proxy-setup.ts';

/** Sends a request of a client to Envoy, or the request to Keyreeve that Envoy makes of it. @returns the status */
type Send = (path: string, key: string) => Promise<number>;

/** @param prefix the `path_prefix` in `envoy.yaml` */
export const asEnvoy =
  ({ port }: ForwardAuthServer, prefix: string): Send =>
  async (path, key) =>
    (await send(port, { path: `${prefix}${path}`, headers: [bearer(key), ...envoyHeaders] })).status;

export const costlyPrefix = '/auth/forward?cost=5&path=';

/** @param nickname different for each server @param sendCostly with a prefix whose cost is 5 */
export async function assertCostApplies(server: ForwardAuthServer, nickname: string, sendCostly: Send): Promise<void> {
  // A quota with an end, so that rejections have Retry-After.
  const limits = { quota: { limit: 10, per: 'month' } };
  const { key } = await server.createKey(nickname, { limits });
  assert.equal(await sendCostly('/x?cost=1', key), 200, 'the parameter of the client is part of the path');
  assert.equal(await sendCostly('/x?y&cost=1&cost=2', key), 200);
  for (const query of ['y', 'y&cost=1', 'y&cost=1&cost=1', 'cost=5&cost=1'])
    assert.equal(await sendCostly(`/x?${query}`, key), 429, query);
  const status = await sendCostly('/x?y&cost=1&limited=403', key);
  // Only the request of Envoy contains the parameters of the client.
  assert.ok(status === 403 || status === 429, `${status}`);
}

export async function assertNothingIsFree(server: ForwardAuthServer): Promise<void> {
  const { key } = await server.createKey('never free', { limits: { quota: { limit: 2, per: 'ever' } } });
  const sendPlain = asEnvoy(server, '/auth/forward');
  assert.equal(await sendPlain('/x?cost=1', key), 200);
  for (const query of ['cost=0', 'cost=-1', 'cost=0.5', 'cost=', 'cost=1&cost=0', 'cost=0&cost=1', 'limited=200'])
    assert.equal(await sendPlain(`/x?${query}`, key), 400, query);
  assert.equal(await sendPlain('/x?y', key), 200);
  assert.equal(await sendPlain('/x?y', key), 429);
}

/** How an operator adds a cost of 5 to each file. */
export const costs: Readonly<Record<string, readonly [find: string, replace: string]>> = {
  nginx: ['/auth/forward?limited=403;', '/auth/forward?limited=403&cost=5;'],
  Caddy: ['uri /auth/forward?\n', 'uri /auth/forward?cost=5\n'],
  HAProxy: ['    acl is_orders', '    http-request set-var(txn.keyreeve_cost) int(5)\n    acl is_orders'],
  Traefik: ['address: http://127.0.0.1:8787/auth/forward\n', 'address: http://127.0.0.1:8787/auth/forward?cost=5\n'],
  Envoy: ['path_prefix: /auth/forward\n', `path_prefix: ${costlyPrefix}\n`],
};

/** Of the configuration of a proxy in `docs/forward-auth/`. */
export function checkCostOf(proxy: TestedProxy, start: () => Promise<ForwardAuthServer>): void {
  const [find, replace] = costs[proxy.name] ?? assert.fail();

  test(`the cost in the file of ${proxy.name} applies, and a client cannot reduce it`, async (t) => {
    const keyreeve = await start();
    const sendThrough =
      (setup: ProxySetup): Send =>
      async (path, key) => {
        const response = await setup.send({ path, headers: [bearer(key)] });
        if (response.status === 429) assert.equal(values(response.headers, 'Retry-After').length, 1);
        assert.equal(setup.backend.takeRequests().length, response.status === 200 ? 1 : 0);
        return response.status;
      };
    /** @param cost in the file of the proxy */
    const withCost = (cost: string, check: (send: Send) => Promise<void>): Promise<void> => {
      const edit = (text: string): string => text.replace(find, replace.replace('5', cost));
      return runChecks(t, { ...proxy, edit }, keyreeve, {
        [`a cost of ${cost}`]: (setup) => check(sendThrough(setup)),
      });
    };
    await withCost('5', (sendCostly) => assertCostApplies(keyreeve, `costly with ${proxy.name}`, sendCostly));
    // 0 is invalid.
    await withCost('0', async (sendFree) => {
      for (const path of ['/x', '/x?cost=1'])
        assert.ok([400, 500, 503].includes(await sendFree(path, keyreeve.key.key)), path);
    });
  });
}

/** `test/limits/limit-mutants.ts` has the other broken build: the last cost of a query applies. */
export const costCanBe0: readonly Edit[] = [
  [String.raw`/^[1-9]\d{0,4}$/`, String.raw`/^\d{1,5}$/`] as const,
  ['return Math.max(1, ...costs);', 'return costs.length > 0 ? Math.max(...costs) : 1;'] as const,
].map(([find, replace]) => ({ file: 'modules/verification/forward.ts', find, replace }));
