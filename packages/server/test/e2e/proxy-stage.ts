/** What every test of a proxy in `docs/forward-auth/` uses: the running parts, and assertions about one request. */
import assert from 'node:assert/strict';
import type { Answer, Ask } from './proxy-client.ts';
import type { Backend, ForwardAuthServer, Reached, Tap, TestKey } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';

export interface Stage {
  readonly proxy: TestedProxy;
  readonly keyreeve: ForwardAuthServer;
  readonly tap: Tap;
  readonly backend: Backend;
  /** Where the proxy listens. */
  readonly url: string;
  ask(ask: Ask): Promise<Answer>;
  /** Opens a WebSocket through the proxy: the bytes that came back, or the status of a refusal. */
  echo(path: string, headers: readonly (readonly [string, string])[], text: string): Promise<string | number>;
}

export const bearer = (secret: string): readonly [string, string] => ['Authorization', `Bearer ${secret}`];
export const apiKey = (secret: string): readonly [string, string] => ['X-API-Key', secret];

/** The value of every identity header that a client sends in a test. */
export const claimed = 'claimed-by-the-client';

/** Lets one request through and returns it as the backend saw it. */
export async function passes(stage: Stage, ask: Ask): Promise<Reached> {
  const answer = await stage.ask(ask);
  assert.equal(answer.status, 200, JSON.stringify(answer));
  const [reached, ...more] = stage.backend.taken();
  assert.ok(reached !== undefined && more.length === 0, 'exactly one request reached the backend');
  return reached;
}

export async function refused(stage: Stage, ask: Ask, statuses: readonly number[]): Promise<Answer> {
  const answer = await stage.ask(ask);
  assert.deepEqual(stage.backend.taken(), [], 'nothing reached the backend');
  assert.ok(
    statuses.includes(answer.status),
    `${answer.status} instead of ${statuses.join(' or ')}: ${JSON.stringify({ ask, answer })}`,
  );
  return answer;
}

/**
 * Everything that a backend could take for an identity: names are compared as the most careless backend would, and a header that is
 * absent counts as empty, since some proxies leave empty ones out.
 */
export function identity(reached: Reached): Record<string, string[]> {
  const found: Record<string, string[]> = structuredClone(identityOfNobody);
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
});

export const identityOfToken = (keyreeve: ForwardAuthServer): Record<string, string[]> => ({
  account: [keyreeve.accountId],
  credential: ['access_token'],
  keyid: [],
  nickname: [],
  scopes: [],
});

const identityOfNobody = { account: [], credential: [], keyid: [], nickname: [], scopes: [] };
