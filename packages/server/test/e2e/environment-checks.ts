/**
 * Environments with the configurations in `docs/forward-auth/`: the backend receives the environment that Keyreeve found, and
 * no client chooses one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Edit } from '../revocation-check/mutant-edits.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { send, values } from './proxy-client.ts';
import { claims } from './proxy-guarantees.ts';
import type { ForwardAuthServer, TestKey } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';
import { runChecks } from './proxy-run.ts';
import { assertForwarded, assertRejected, bearer, envoyHeaders, identity, type ProxySetup } from './proxy-setup.ts';

/** All environments, so that only a required one can reject the keys of another. */
const settings = {
  KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test',
  KEYREEVE_FORWARD_ENVIRONMENTS: 'any',
};

export interface Server extends ForwardAuthServer {
  readonly testKey: TestKey;
}

export async function startServer(main?: string): Promise<Server> {
  const server = await startKeyreeve(main, settings);
  return { ...server, testKey: await server.createKey('in test', { environment: 'test' }) };
}

/** How an operator requires the environment live in each file. */
export const requirements: Readonly<Record<string, readonly [find: string, replace: string]>> = {
  nginx: ['/auth/forward?limited=403;', '/auth/forward?limited=403&environment=live;'],
  Caddy: ['uri /auth/forward?\n', 'uri /auth/forward?environment=live\n'],
  HAProxy: ['    acl is_orders', '    http-request set-var(txn.keyreeve_only) str(live)\n    acl is_orders'],
  Traefik: [
    'address: http://127.0.0.1:8787/auth/forward\n',
    'address: http://127.0.0.1:8787/auth/forward?environment=live\n',
  ],
  Envoy: ['path_prefix: /auth/forward\n', 'path_prefix: /auth/forward?environment=live&path=\n'],
};

/** Queries by which a client asks for another environment. */
const queries = ['?environment=test', '?x=y&environment=test', '?environment=test&environment=test'];

/** @returns the environments that the backend received */
async function environmentsOf(setup: ProxySetup, headers: readonly (readonly [string, string])[]): Promise<string[]> {
  return identity(await assertForwarded(setup, { path: '/x', headers }))['environment'] ?? [];
}

async function assertIdentity(setup: ProxySetup, keyreeve: Server): Promise<void> {
  for (const [how, headers] of Object.entries(claims)) {
    assert.deepEqual(await environmentsOf(setup, [bearer(keyreeve.testKey.key), ...headers]), ['test'], how);
    assert.deepEqual(await environmentsOf(setup, [...headers, bearer(keyreeve.accessToken)]), ['live'], how);
  }
  const forged = [
    ['X-Keyreeve-Environment', 'live'],
    ['x_keyreeve_environment', 'live'],
  ] as const;
  for (const headers of [forged, [...forged, ...forged], [...forged, ['Connection', 'close, X-Keyreeve-Environment']]])
    assert.deepEqual(await environmentsOf(setup, [bearer(keyreeve.testKey.key), ...(headers as typeof forged)]), [
      'test',
    ]);
  assert.equal(await setup.echo('/ws/chat', [bearer(keyreeve.testKey.key), ...forged], 'hello'), 'hello');
  const [upgraded] = setup.backend.takeRequests();
  assert.deepEqual(upgraded && identity(upgraded)['environment'], ['test']);
}

async function assertOnlyLive(setup: ProxySetup, keyreeve: Server): Promise<void> {
  const [live, inTest] = [bearer(keyreeve.key.key), bearer(keyreeve.testKey.key)];
  assert.deepEqual(await environmentsOf(setup, [live]), ['live']);
  const rejected = await assertRejected(setup, { path: '/x', headers: [inTest] }, [403]);
  assert.equal((JSON.parse(rejected.body) as { code?: unknown }).code, 'wrong_environment');
  for (const query of queries) {
    await assertRejected(setup, { path: `/x${query}`, headers: [inTest] }, [403]);
    // Only Envoy sends the query to Keyreeve. Its first parameter is a part of the path then.
    if (setup.proxy.hasRuleByPath) await assertForwarded(setup, { path: `/x${query}`, headers: [live] });
  }
}

/** With the configuration of a proxy in `docs/forward-auth/`. */
export function checkEnvironmentsOf(proxy: TestedProxy, start: () => Promise<Server>): void {
  const [find, replace] = requirements[proxy.name] ?? assert.fail();

  test(`with the file of ${proxy.name}, no client chooses an environment`, async (t) => {
    const keyreeve = await start();
    await runChecks(t, proxy, keyreeve, { 'the backend receives it': (setup) => assertIdentity(setup, keyreeve) });
    const checks = { 'a required one rejects others': (setup: ProxySetup) => assertOnlyLive(setup, keyreeve) };
    await runChecks(t, { ...proxy, edit: (text) => text.replace(find, replace) }, keyreeve, checks);
  });
}

/** With the `path_prefix` that names an environment. @returns the status and the environment */
async function asEnvoy({ port }: Server, path: string, key: string): Promise<readonly [number, string]> {
  const prefix = '/auth/forward?environment=live&path=';
  const answer = await send(port, { path: `${prefix}${path}`, headers: [bearer(key), ...envoyHeaders] });
  return [answer.status, values(answer.headers, 'X-Keyreeve-Environment').join()];
}

export async function assertNoWidening(server: Server): Promise<void> {
  assert.deepEqual(await asEnvoy(server, '/x?y', server.key.key), [200, 'live']);
  assert.deepEqual(await asEnvoy(server, '/x?y&environment=live', server.key.key), [200, 'live']);
  for (const query of ['y', 'y&environment=test', 'y&environment=test&environment=test', 'environment=test'])
    assert.deepEqual(await asEnvoy(server, `/x?${query}`, server.testKey.key), [403, ''], query);
  for (const query of ['y&environment=', 'y&environment=live,test', 'y&environment=any'])
    assert.deepEqual(await asEnvoy(server, `/x?${query}`, server.testKey.key), [400, ''], query);
}

export const lastEnvironmentApplies: readonly Edit[] = [
  {
    file: 'modules/verification/forward.ts',
    find: `wanted.every((other) => other === name)`,
    replace: `(wanted.at(-1) ?? name) === name`,
  },
];
