/** The running parts of a proxy test in `docs/forward-auth/`, and assertions about one request. */
import assert from 'node:assert/strict';
import type { ProxyRequest, ProxyResponse } from './proxy-client.ts';
import type { Backend, ForwardAuthServer, BackendRequest, Tap, TestKey } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';

export interface ProxySetup {
  readonly proxy: TestedProxy;
  readonly keyreeve: ForwardAuthServer;
  readonly tap: Tap;
  readonly backend: Backend;
  /** The URL of the proxy. */
  readonly url: string;
  send(request: ProxyRequest): Promise<ProxyResponse>;
  /** Opens a WebSocket through the proxy. @returns the received bytes, or the status of a rejection */
  echo(path: string, headers: readonly (readonly [string, string])[], text: string): Promise<string | number>;
}

export const bearer = (secret: string): readonly [string, string] => ['Authorization', `Bearer ${secret}`];
export const apiKey = (secret: string): readonly [string, string] => ['X-API-Key', secret];

/** The headers of Envoy's requests, in addition to the credential; recorded from Envoy 1.40. */
export const envoyHeaders: readonly (readonly [string, string])[] = [
  ['content-length', '0'],
  ['x-envoy-internal', 'true'],
  ['x-envoy-expected-rq-timeout-ms', '5000'],
];

/** The value of all identity headers that the client sends. */
export const claimed = 'claimed-by-the-client';

/** @returns the request as the backend received it */
export async function assertForwarded(setup: ProxySetup, request: ProxyRequest): Promise<BackendRequest> {
  const response = await setup.send(request);
  assert.equal(response.status, 200, JSON.stringify(response));
  const [reached, ...more] = setup.backend.takeRequests();
  assert.ok(reached !== undefined && more.length === 0, 'exactly one request reached the backend');
  return reached;
}

export async function assertRejected(
  setup: ProxySetup,
  request: ProxyRequest,
  statuses: readonly number[],
): Promise<ProxyResponse> {
  const response = await setup.send(request);
  assert.deepEqual(setup.backend.takeRequests(), [], 'nothing reached the backend');
  assert.ok(
    statuses.includes(response.status),
    `${response.status} instead of ${statuses.join(' or ')}: ${JSON.stringify({ request, response })}`,
  );
  return response;
}

/**
 * All headers that a backend could interpret as an identity: the comparison ignores case and punctuation of names. An absent
 * header counts as empty, because some proxies omit empty ones.
 */
export function identity(reached: BackendRequest): Record<string, string[]> {
  const found: Record<string, string[]> = structuredClone(noIdentity);
  for (const [name, value] of reached.headers) {
    const plain = name.toLowerCase().replace(/[^a-z]/g, '');
    if (!plain.includes('keyreeve')) continue;
    const short = plain.replace('xkeyreeve', '');
    if (value !== '') found[short] = [...(found[short] ?? []), value];
  }
  assert.ok(!JSON.stringify(reached).includes(claimed), JSON.stringify(reached));
  return found;
}

export const identityOfKey = (keyreeve: ForwardAuthServer, key: TestKey, scopes: string): Record<string, string[]> => ({
  account: [keyreeve.accountId],
  credential: ['api_key'],
  keyid: [String(key.id)],
  nickname: [encodeURIComponent(key.nickname)],
  scopes: scopes === '' ? [] : [scopes],
  environment: [],
});

export const identityOfToken = (keyreeve: ForwardAuthServer): Record<string, string[]> => ({
  account: [keyreeve.accountId],
  credential: ['access_token'],
  keyid: [],
  nickname: [],
  scopes: [],
  environment: [],
});

const noIdentity = { account: [], credential: [], keyid: [], nickname: [], scopes: [], environment: [] };
