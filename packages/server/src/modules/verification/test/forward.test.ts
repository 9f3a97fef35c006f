/** `/auth/forward`: the identity headers for proxies, and the requests that get them. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type ListedKeyFull } from '@keyreeve/contract';
import { bearer, newApp, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch, fromWire } from '../../../../test-kit/assert-problem.ts';
import { ask, head } from '../../../../test-kit/raw-http.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const identityNames = ['account', 'credential', 'key-id', 'nickname', 'scopes'].map((name) => `x-keyreeve-${name}`);

/** A missing header is null, an empty one is ''. */
const identity = ({ headers }: Answered): (string | null)[] => identityNames.map((name) => headers.get(name));

async function fixture(nickname = 'worker', scopes: readonly string[] = []) {
  const app = await newApp();
  const signedIn = await app.signIn();
  const headers = bearer(signedIn.accessToken);
  const create = async (more: object): Promise<CreatedKey> =>
    (await app.call('POST', '/auth/api-keys', { headers, json: more })).json as CreatedKey;
  const { id, key } = await create({ nickname, scopes });
  const forward = (path = '', credential = key, method = 'GET'): Promise<Answered> =>
    app.call(method, `/auth/forward${path}`, { headers: bearer(credential) });
  return {
    app,
    ...signedIn,
    headers,
    id,
    key,
    create,
    forward,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test(
  'the response to a valid key has all five identity headers, must not be stored, and has no headers for browsers',
  { tags: ['asvs:1.1.2'] },
  async () => {
    await using at = await fixture('naïve 🦊, "x" %', ['orders:read', 'orders:write']);
    const answer = await at.forward();
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.deepEqual(identity(answer), [
      at.account.id,
      'api_key',
      String(at.id),
      'na%C3%AFve%20%F0%9F%A6%8A%2C%20%22x%22%20%25',
      'orders:read orders:write',
    ]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const others = [...answer.headers.keys()].filter((name) => !identityNames.includes(name));
    assert.deepEqual(others.toSorted(), ['cache-control', 'connection', 'content-length', 'date', 'keep-alive']);
  },
);

test(
  'identity headers that do not apply are empty, so that a proxy overwrites forged ones',
  { tags: ['asvs:4.1.3'] },
  async () => {
    await using at = await fixture();
    const forged = Object.fromEntries(identityNames.map((name) => [name, 'forged']));
    const byKey = await at.app.call('GET', '/auth/forward', { headers: { ...bearer(at.key), ...forged } });
    assert.deepEqual(identity(byKey), [at.account.id, 'api_key', String(at.id), 'worker', '']);
    const byToken = await at.app.call('GET', '/auth/forward', { headers: { ...bearer(at.accessToken), ...forged } });
    assert.deepEqual([byToken.status, byToken.text], [200, '']);
    assert.deepEqual(identity(byToken), [at.account.id, 'access_token', '', '', '']);
  },
);

test('all methods except TRACE and CONNECT, and all paths below, get the same response', async () => {
  await using at = await fixture();
  const expected = identity(await at.forward());
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
    for (const path of ['', '/', '/api/v1/things', '/a//b/%2e%2e/;x', '?next=/x', '/?']) {
      const answer = await at.forward(path, at.key, method);
      assert.deepEqual([answer.status, ...identity(answer)], [200, ...expected], `${method} ${path}`);
      assertProblem(fromFetch({ ...(await at.forward(path, 'wrong', 'GET')) }), 'invalid_credential', path);
    }
  }
  for (const method of ['TRACE', 'CONNECT']) {
    const rejected = await ask(at.app.url, head(`${method} /auth/forward HTTP/1.1`, 'Host: a', `X-API-Key: ${at.key}`));
    assertProblem(fromWire(rejected), 'method_not_allowed', method);
    assert.deepEqual(rejected.headers.get('allow'), ['GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
    assert.ok(!rejected.body.includes(at.key));
  }
});

test('a path that only resembles /auth/forward is not found', async () => {
  await using at = await fixture();
  for (const path of [
    '/auth/forwards',
    '/auth/forward%2f',
    '/auth/Forward',
    '//auth/forward',
    '/x/auth/forward',
    '/auth/forward;a',
  ]) {
    const answer = await ask(at.app.url, head(`GET ${path} HTTP/1.1`, 'Host: a', `X-API-Key: ${at.key}`));
    assertProblem(fromWire(answer), 'not_found', path);
    for (const name of identityNames) assert.equal(answer.headers.get(name), undefined, path);
  }
});

test('a key is accepted only for scopes that it has', { tags: ['asvs:10.3.2'] }, async () => {
  await using at = await fixture('worker', ['a', 'orders:read']);
  for (const query of [
    '',
    '?',
    '?scope=',
    '?scope=a',
    '?scope=a&scope=orders:read',
    '?scope=orders:read+a',
    '?scope=a%20orders%3Aread',
    '?other=b',
  ]) {
    assert.equal((await at.forward(query)).status, 200, query);
  }
  const missing = {
    '?scope=b': 'b',
    '?scope=a&scope=b': 'a b',
    '?scope=a%20b': 'a b',
    '?scope=A': 'A',
    '?scope=orders': 'orders',
    '?scope=orders:read:x': 'orders:read:x',
    '?scope=*': '*',
  };
  for (const [query, wanted] of Object.entries(missing)) {
    const rejected = await at.forward(query);
    assertProblem(fromFetch(rejected), 'insufficient_scope', query);
    const challenge = `Bearer realm="keyreeve", error="insufficient_scope", scope="${wanted}"`;
    assert.equal(rejected.headers.get('www-authenticate'), challenge);
    assert.deepEqual(
      identity(rejected),
      identityNames.map(() => null),
    );
  }
  assertProblem(fromFetch(await at.forward('?scope=a', at.accessToken)), 'insufficient_scope', 'a token has no scopes');
});

test('repeated required scopes count once, and the response to too many names a bounded number', async () => {
  const held = Array.from({ length: limits.scopesPerKeyMax }, (_, index) => `s${index}`);
  await using at = await fixture('worker', held);
  const repeated = Array.from({ length: 20 }, () => held.join('+')).join('+');
  assert.equal((await at.forward(`?scope=${repeated}&scope=s0`)).status, 200);
  assertProblem(fromFetch(await at.forward(`?scope=${repeated}+other`)), 'insufficient_scope');
  const many = Array.from({ length: 2_000 }, (_, index) => `t${index}`);
  const named = many.slice(0, limits.scopesPerKeyMax + 1);
  for (const query of [
    `?scope=${many.join('+')}`,
    many.map((scope, index) => `${index ? '&' : '?'}scope=${scope}`).join(''),
  ]) {
    const rejected = await at.forward(query.slice(0, 12_000));
    assertProblem(fromFetch(rejected), 'insufficient_scope');
    const challenge = `Bearer realm="keyreeve", error="insufficient_scope", scope="${named.join(' ')}"`;
    assert.equal(rejected.headers.get('www-authenticate'), challenge);
  }
});

test('a response contains text of the query only when it is a scope', { tags: ['asvs:1.2.1'] }, async () => {
  await using at = await fixture();
  for (const query of ['?scope=%22%0d%0aSet-Cookie:%20a=b', '?scope=%22,error=%22x', '?scope=%00', '?scope=%ff']) {
    const rejected = await at.forward(query);
    assertProblem(fromFetch(rejected), 'insufficient_scope', query);
    assert.match(
      rejected.headers.get('www-authenticate') ?? '',
      /^Bearer realm="keyreeve", error="insufficient_scope", scope="[^"\\]*"$/,
    );
  }
});

test('the keys of a disabled account are rejected until it is enabled', { tags: ['asvs:7.4.2'] }, async () => {
  await using at = await fixture();
  const { accounts } = at.app.service.services;
  await accounts.disable(operator, at.account.id);
  for (const credential of [at.key, at.accessToken]) {
    const rejected = await at.forward('', credential);
    assertProblem(fromFetch(rejected), 'invalid_credential');
    assert.deepEqual(
      identity(rejected),
      identityNames.map(() => null),
    );
  }
  await accounts.enable(operator, at.account.id);
  assert.equal((await at.forward()).status, 200);
  assert.equal((await at.forward('', at.accessToken)).status, 401, 'sessions stay ended');
});

test('the credentials of a deleted account are rejected', async () => {
  await using at = await fixture();
  await at.app.service.services.accounts.delete(operator, at.account.id);
  for (const credential of [at.key, at.accessToken]) {
    assertProblem(fromFetch(await at.forward('', credential)), 'invalid_credential');
  }
});

test('a key is accepted before its expiry and rejected at it', async () => {
  await using at = await fixture();
  const expiresAt = at.app.clock.now() + 60_000;
  const { key } = await at.create({ nickname: 'brief', expiresAt: new Date(expiresAt).toISOString() });
  at.app.clock.advance({ seconds: 59.999 });
  assert.equal((await at.forward('', key)).status, 200);
  at.app.clock.advance({ seconds: 0.001 });
  assertProblem(fromFetch(await at.forward('', key)), 'invalid_credential');
  assert.equal((await at.forward()).status, 200, 'a key without an expiry is accepted');
});

test(
  'an acceptance writes no log record, and a rejection writes one without the credential',
  { tags: ['asvs:16.3.2'] },
  async () => {
    await using at = await fixture();
    at.app.logLines.length = 0;
    for (const credential of [at.key, at.accessToken])
      assert.equal((await at.forward('/x?y=z', credential)).status, 200);
    assert.deepEqual(at.app.logLines, []);
    const { requestId } = assertProblem(
      fromFetch(await at.forward('/x?y=secret-query', `${at.key}A`)),
      'invalid_credential',
    );
    const [line = '', ...more] = at.app.logLines;
    assert.deepEqual(more, []);
    const { event, code, route, requestId: logged } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([event, code, route, logged], ['refused', 'invalid_credential', '/auth/forward', requestId]);
    assert.ok(!line.includes(at.key) && !line.includes('secret-query'));
  },
);

test('the response does not wait for the body of the request', async () => {
  await using at = await fixture();
  const lines = ['POST /auth/forward/upload HTTP/1.1', 'Host: a', `Authorization: Bearer ${at.key}`];
  // The announced bodies are never sent.
  for (const framing of ['Content-Length: 1000000000', 'Transfer-Encoding: chunked']) {
    const answer = await ask(at.app.url, head(...lines, 'Content-Type: text/csv', framing));
    assert.equal(answer.status, 200, framing);
  }
});

test('the request target is limited only by the size of the headers', async () => {
  await using at = await fixture();
  assert.equal((await at.forward(`/${'x'.repeat(14_000)}?y=${'z'.repeat(1_000)}`)).status, 200);
  assertProblem(fromFetch(await at.forward(`/${'x'.repeat(16_384)}`)), 'headers_too_large');
});

test('a verification updates the key’s time of last use and not its time of last change', async () => {
  await using at = await fixture();
  const { app } = at;
  const createdAt = new Date(app.clock.now()).toISOString();
  const times = async (): Promise<unknown> => {
    await app.service.services.uses.flush();
    const { json } = await app.call('GET', '/auth/api-keys?view=full', { headers: at.headers });
    return (json as { apiKeys: ListedKeyFull[] }).apiKeys.map(({ updatedAt, lastUsedAt }) => [updatedAt, lastUsedAt]);
  };
  assert.deepEqual(await times(), [[createdAt, null]]);
  app.clock.advance({ seconds: 90 });
  assert.equal((await at.forward()).status, 200);
  const usedAt = new Date(app.clock.now()).toISOString();
  assert.deepEqual(await times(), [[createdAt, usedAt]]);
  // At most one write a minute.
  app.clock.advance({ seconds: 59 });
  await at.forward();
  assert.deepEqual(await times(), [[createdAt, usedAt]]);
  app.clock.advance({ seconds: 1 });
  await at.forward();
  assert.deepEqual(await times(), [[createdAt, new Date(app.clock.now()).toISOString()]]);
  app.clock.advance({ seconds: 60 });
  assert.equal((await at.forward('?scope=a')).status, 403, 'a rejection is not a use');
  assert.deepEqual(await times(), [[createdAt, new Date(app.clock.now() - 60_000).toISOString()]]);
});
