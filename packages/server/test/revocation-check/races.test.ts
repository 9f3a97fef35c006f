/**
 * Concurrent requests for unique or limited things, over HTTP through one and three instances on one PostgreSQL.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../src/foundation/clock.ts';
import type { CanaryAccount } from '../../revocation-check/canaries.ts';
import { ageSessions } from '../../test-kit/age-sessions.ts';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { until } from '../../test-kit/until.ts';
import { basic, bearer, type Environment } from '../e2e/program.ts';
import { Cluster } from './cluster.ts';
import type { CommitCut } from './fault-proxy.ts';

const rivals = 24;
const keysMax = 16;
const sessionsMax = 8;
/** Fewer, because each hashes a password. */
const signIns = 16;

let cluster: Cluster;
before(async () => {
  cluster = await Cluster.start({
    instances: 3,
    postgres: await sharedPostgres(),
    environment: {
      KEYREEVE_KEYS_PER_ACCOUNT_MAX: String(keysMax),
      KEYREEVE_SESSIONS_PER_ACCOUNT_MAX: String(sessionsMax),
      // The longest, because rivals on a busy machine take longer than the default.
      KEYREEVE_REFRESH_GRACE_SECONDS: '300',
      KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
});
after(() => cluster[Symbol.asyncDispose]());

interface HttpResponse {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier attempt got 503, and may have been committed. */
  readonly isRepeated?: boolean;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Repeats a request while the program responds with 503, because a busy machine delays it beyond a time limit. */
async function retryWhileUnavailable(attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
  let [response, isRepeated] = [await attempt(), false];
  await until('the service is available', async () => {
    if (response.status !== 503) return true;
    isRepeated = true;
    response = await attempt();
    return false;
  });
  return { ...response, isRepeated };
}

/** Also repeats a sign-in that is rejected because two with the same email are in progress. */
async function retryWhileBusy(attempt: () => Promise<HttpResponse>): Promise<HttpResponse> {
  let [response, isRepeated] = [await retryWhileUnavailable(attempt), false];
  await until('the sign-in is not rejected because others are in progress', async () => {
    isRepeated ||= response.isRepeated === true;
    if (response.status !== 429) return true;
    response = await retryWhileUnavailable(attempt);
    return false;
  });
  return { ...response, isRepeated };
}

async function send(
  url: string,
  headers: Environment,
  [method, path, json]: readonly [method: string, path: string, json?: unknown],
): Promise<HttpResponse> {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const response = await fetch(new URL(path, url), {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Sends all requests at once, to the instances in turn. */
const race = (urls: readonly string[], count: number, one: (url: string, rival: number) => Promise<HttpResponse>) =>
  Promise.all(Array.from({ length: count }, (_, rival) => one(urls[rival % urls.length] ?? '', rival)));

/** Counts the responses by status and problem code. */
function countByStatus(responses: readonly HttpResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of responses) {
    const { code } = (body ?? {}) as { code?: string };
    const name = code === undefined ? String(status) : `${status} ${code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * `expected` responses are `result`, and all others `other`. A repeated request can lack a `result` that an earlier attempt has had.
 * @param repeatedOnly what only a repeated request can get
 */
function assertCounts(
  responses: readonly HttpResponse[],
  expected: number,
  { result, other, repeatedOnly = other }: { result: string; other: string; repeatedOnly?: string },
): void {
  const repeated = responses.filter(({ isRepeated }) => isRepeated).length;
  const { [result]: count = 0, [other]: rest = 0, ...more } = countByStatus(responses);
  const { [repeatedOnly]: late = 0, ...unexpected } = more;
  assert.deepEqual([unexpected, count + rest + late], [{}, responses.length]);
  assert.ok(late <= repeated && count <= expected && count >= expected - repeated, `${count} of ${result}`);
}

async function countKeys(owner: Environment): Promise<number> {
  const { body } = await retryWhileUnavailable(() => send(cluster.urls[0] ?? '', owner, ['GET', '/auth/api-keys']));
  return (body as { apiKeys: unknown[] }).apiKeys.length;
}

async function signIn(account: CanaryAccount): Promise<Tokens> {
  const { status, body } = await retryWhileBusy(() =>
    send(cluster.urls[0] ?? '', basic(account.email, account.password), ['POST', '/auth/token']),
  );
  assert.equal(status, 200);
  return body as Tokens;
}

/** A session whose refresh token is old enough to be rotated. */
async function newSession(): Promise<Tokens> {
  const tokens = await signIn(await cluster.canaries.newAccount());
  await ageSessions(cluster.databaseUrl);
  return tokens;
}

const refreshOnce = (url: string, refreshToken: string): Promise<HttpResponse> =>
  send(url, {}, ['POST', '/auth/token/refresh', { refreshToken }]);
const refresh = (url: string, refreshToken: string): Promise<HttpResponse> =>
  retryWhileUnavailable(() => refreshOnce(url, refreshToken));

const successorsOf = (responses: readonly HttpResponse[]): Set<string> =>
  new Set(responses.filter(({ status }) => status === 200).map(({ body }) => (body as Tokens).refreshToken));

for (const instances of [1, 3]) {
  const urlsOf = (): readonly string[] => cluster.urls.slice(0, instances);
  const through = `through ${instances} instance${instances === 1 ? '' : 's'}`;

  test(`of ${rivals} concurrent creations with one nickname one succeeds, ${through}`, async () => {
    const owner = bearer((await newSession()).accessToken);
    const responses = await race(urlsOf(), rivals, (url) =>
      retryWhileUnavailable(() => send(url, owner, ['POST', '/auth/api-keys', { nickname: 'mine' }])),
    );
    assertCounts(responses, 1, { result: '201', other: '409 nickname_taken' });
    assert.equal(await countKeys(owner), 1);
  });

  test(`${rivals} concurrent creations stop at the limit of keys per account, ${through}`, async () => {
    const owner = bearer((await newSession()).accessToken);
    const responses = await race(urlsOf(), rivals, (url, rival) =>
      retryWhileUnavailable(() => send(url, owner, ['POST', '/auth/api-keys', { nickname: `rival ${rival}` }])),
    );
    assertCounts(responses, keysMax, {
      result: '201',
      other: '409 key_limit_reached',
      repeatedOnly: '409 nickname_taken',
    });
    assert.equal(await countKeys(owner), keysMax);
  });

  test(`of ${rivals} concurrent deletions of one key one succeeds, ${through}, and all instances reject the key`, async () => {
    const owner = bearer((await newSession()).accessToken);
    const created = await retryWhileUnavailable(() =>
      send(cluster.urls[0] ?? '', owner, ['POST', '/auth/api-keys', { nickname: 'short-lived' }]),
    );
    const { id, key } = created.body as { id: number; key: string };
    const responses = await race(urlsOf(), rivals, (url) =>
      retryWhileUnavailable(() => send(url, owner, ['DELETE', `/auth/api-keys/${id}`])),
    );
    assertCounts(responses, 1, { result: '200', other: '404 key_not_found' });
    const results = await race(cluster.urls, 3, (url) =>
      retryWhileUnavailable(() => send(url, bearer(key), ['GET', '/auth/forward'])),
    );
    assert.deepEqual(countByStatus(results), { '401 invalid_credential': 3 });
  });

  test(`${rivals} concurrent refreshes with one token return the same successor, ${through}`, async () => {
    const { refreshToken } = await newSession();
    const responses = await race(urlsOf(), rivals, (url) => refresh(url, refreshToken));
    assert.deepEqual(countByStatus(responses), { '200': rivals });
    const successors = [...successorsOf(responses)];
    assert.equal(successors.length, 1);
    await ageSessions(cluster.databaseUrl);
    const next = await refresh(urlsOf().at(-1) ?? '', successors[0] ?? '');
    assert.equal(next.status, 200);
    // A reused token may be stolen, so the session ends.
    assert.deepEqual(countByStatus([await refresh(urlsOf()[0] ?? '', refreshToken)]), {
      '401 refresh_token_reused': 1,
    });
    const last = (next.body as Tokens).refreshToken;
    assert.deepEqual(countByStatus([await refresh(urlsOf()[0] ?? '', last)]), { '401 invalid_refresh_token': 1 });
  });

  for (const cut of ['before it is sent', 'before its response'] satisfies CommitCut[]) {
    test(`a refresh token stays usable after its commit is cut ${cut}, ${through}`, async () => {
      const { refreshToken } = await newSession();
      const proxies = cluster.instances.slice(0, instances).map(({ proxy }) => proxy);
      const cuts = (): number => proxies.reduce((sum, proxy) => sum + (proxy?.counts.commitsCut[cut] ?? 0), 0);
      const cutBefore = cuts();
      for (const proxy of proxies) proxy?.cutCommits(cut, { every: 2, statement: 'rotate_refresh_token' });
      const responses = await race(urlsOf(), rivals, (url) => refreshOnce(url, refreshToken));
      for (const proxy of proxies) proxy?.clearFaults();
      const { '200': refreshed = 0, '503 unavailable': unknown = 0, ...others } = countByStatus(responses);
      assert.deepEqual([others, refreshed + unknown], [{}, rivals]);
      assert.ok(cuts() > cutBefore && unknown > 0);
      // Another instance returns the same successor.
      const again = await refresh(cluster.urls.at(-1) ?? '', refreshToken);
      assert.deepEqual(countByStatus([again]), { '200': 1 });
      assert.equal(successorsOf([...responses, again]).size, 1);
      assert.equal((await refresh(cluster.urls[0] ?? '', (again.body as Tokens).refreshToken)).status, 200);
    });
  }

  test(`${signIns} concurrent sign-ins leave exactly the limit of sessions per account, ${through}`, async () => {
    const { email, password } = await cluster.canaries.newAccount();
    // Each from its own client IP, because the limit per IP is lower.
    const responses = await race(urlsOf(), signIns, (url, rival) =>
      retryWhileBusy(() =>
        send(url, { ...basic(email, password), 'x-forwarded-for': `192.0.2.${rival}` }, ['POST', '/auth/token']),
      ),
    );
    assert.deepEqual(countByStatus(responses), { '200': signIns });
    const accessTokens = responses.map(({ body }) => (body as Tokens).accessToken);
    const results = await race(cluster.urls, signIns, (url, rival) =>
      retryWhileUnavailable(() => send(url, bearer(accessTokens[rival] ?? ''), ['GET', '/auth/api-keys'])),
    );
    // A repeated sign-in may have begun two sessions.
    const counted = results.map((result, rival) => ({ ...result, isRepeated: responses[rival]?.isRepeated === true }));
    assertCounts(counted, sessionsMax, { result: '200', other: '401 invalid_access_token' });
  });

  test(`of ${rivals} concurrent wrong passwords only the free failures are checked, ${through}`, async () => {
    const { email } = await cluster.canaries.newAccount();
    const startedAt = monotonicMs();
    const responses = await race(urlsOf(), rivals, (url) =>
      send(url, basic(email, 'not the password'), ['POST', '/auth/token']),
    );
    const seconds = (monotonicMs() - startedAt) / 1_000;
    const {
      '401 invalid_credentials': checked = 0,
      '429 too_many_attempts': rejected = 0,
      '503 overloaded': overloaded = 0,
      ...others
    } = countByStatus(responses);
    assert.deepEqual([others, checked + rejected + overloaded], [{}, rivals]);
    // After the free failures, one more is checked after each delay; delays double.
    const delays = Math.floor(Math.log2(1 + seconds / limits.signInPairDelaySecondsFirst));
    const free = limits.signInPairFreeFailures;
    // Each instance receives more than two of the burst and admits the first two: no counter rejects them before the free
    // failures are used up, and then as many were checked. The others are rejected while those two are in progress.
    // An instance on a busy machine rejects more of them, because it expects a long wait.
    const admitted = overloaded > 0 ? 1 : Math.min(free, instances * limits.passwordChecksPerEmailMax);
    assert.ok(checked >= admitted && checked <= free + delays, `${checked} in ${seconds} s, at least ${admitted}`);
  });
}
