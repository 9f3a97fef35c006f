/** `/auth/verify` and its batch: the results, and which callers get them. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import {
  limits,
  oneTimeCodePrefix,
  type BatchResult,
  type CreatedKey,
  type ErrorCode,
  type VerifyResult,
} from '@keyreeve/contract';
import { checksum } from '../../../foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, newApp, operator } from '../../../../test-kit/new-app.ts';
import { assertProblem, assertSecurityHeaders, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { head } from '../../../../test-kit/raw-http.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { unconditional } from '../conditions.ts';

type Headers = Record<string, string>;

async function fixture() {
  const app = await newApp();
  const service = bearer(await app.serviceKey());
  const signedIn = await app.signIn();
  const create = async (more: object): Promise<CreatedKey> =>
    (await app.call('POST', '/auth/api-keys', { headers: bearer(signedIn.accessToken), json: more }))
      .json as CreatedKey;
  const verify = async (credential: string): Promise<VerifyResult> => {
    const answer = await app.call('POST', '/auth/verify', { headers: service, json: { credential } });
    assert.equal(answer.status, 200, answer.text);
    assertSecurityHeaders(fromFetch(answer));
    return answer.json as VerifyResult;
  };
  const batch = (credentials: unknown) =>
    app.call('POST', '/auth/verify/batch', { headers: service, json: { credentials } });
  return { app, service, ...signedIn, create, verify, batch, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('the result of a valid credential has all members, with null where one does not apply', async () => {
  await using at = await fixture();
  const bare = await at.create({ nickname: 'worker' });
  const full = await at.create({ nickname: 'naïve 🦊', scopes: ['b', 'a'], expiresAt: '2027-01-31T00:00:00Z' });
  const accountId = at.account.id;
  assert.deepEqual(await at.verify(bare.key), {
    valid: true,
    type: 'api_key',
    accountId,
    keyId: bare.id,
    nickname: 'worker',
    scopes: [],
    expiresAt: null,
  });
  assert.deepEqual(await at.verify(full.key), {
    valid: true,
    type: 'api_key',
    accountId,
    keyId: full.id,
    nickname: 'naïve 🦊',
    scopes: ['b', 'a'],
    expiresAt: '2027-01-31T00:00:00.000Z',
  });
  assert.deepEqual(await at.verify(at.accessToken), {
    valid: true,
    type: 'access_token',
    accountId,
    keyId: null,
    nickname: null,
    scopes: null,
    expiresAt: new Date(at.app.clock.now() + 600_000).toISOString(),
  });
});

test('the result of a rejected credential contains only the reason', async () => {
  await using at = await fixture();
  const { app } = at;
  const { accounts } = app.service.services;
  const [expiring, deleted] = [
    await at.create({ nickname: 'expiring', expiresAt: new Date(app.clock.now() + 1_000).toISOString() }),
    await at.create({ nickname: 'deleted' }),
  ];
  await app.call('DELETE', `/auth/api-keys/${deleted.id}`, { headers: bearer(at.accessToken) });
  const [disabled, removed, signedOut] = [await app.signIn(), await app.signIn(), await app.signIn()];
  const keyOf = async (accountId: string) =>
    (await app.service.services.apiKeys.create(operator, accountId, { nickname: 'a' })).secret.reveal();
  const [disabledKey, removedKey] = [await keyOf(disabled.account.id), await keyOf(removed.account.id)];
  await accounts.disable(operator, disabled.account.id);
  await accounts.delete(operator, removed.account.id);
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: signedOut.refreshToken } });
  const code = `${oneTimeCodePrefix}_${'a'.repeat(43)}`;
  app.clock.advance({ seconds: 1 });
  const table: Readonly<Record<string, readonly [credential: string, code: string]>> = {
    'an empty text': ['', 'malformed'],
    'any text': ['password', 'malformed'],
    'a key with another checksum': [`${expiring.key.slice(0, -1)}-`, 'malformed'],
    'a forged access token': [`${at.accessToken.slice(0, -4)}AAAA`, 'not_found'],
    'a refresh token': [at.refreshToken, 'wrong_kind'],
    'a one-time code': [code + checksum(code), 'wrong_kind'],
    'a deleted key': [deleted.key, 'not_found'],
    'a deleted account’s key': [removedKey, 'not_found'],
    'a deleted account’s access token': [removed.accessToken, 'not_found'],
    'an access token after a sign-out': [signedOut.accessToken, 'not_found'],
    'a key at its expiry': [expiring.key, 'expired'],
    'a disabled account’s key': [disabledKey, 'disabled'],
    'a disabled account’s access token': [disabled.accessToken, 'disabled'],
  };
  for (const [what, [credential, reason]] of Object.entries(table)) {
    assert.deepEqual(await at.verify(credential), { valid: false, code: reason }, what);
  }
  const results = (await at.batch(Object.values(table).map(([credential]) => credential))).json;
  assert.deepEqual(results, { results: Object.values(table).map(([, reason]) => ({ valid: false, code: reason })) });
  app.clock.advance({ seconds: 700 });
  assert.deepEqual(await at.verify(at.accessToken), { valid: false, code: 'expired' });
});

test('the results of a batch have the order of its credentials, with repetitions', async () => {
  await using at = await fixture();
  const keys: CreatedKey[] = [];
  for (let index = 0; index < 10; index++) keys.push(await at.create({ nickname: `key ${index}` }));
  const credentials = [...keys, ...keys.toReversed()].flatMap(({ key }) => [key, 'no credential']);
  const { results } = (await at.batch(credentials)).json as { results: VerifyResult[] };
  const expected = [...keys, ...keys.toReversed()].flatMap(({ nickname }) => [nickname, 'malformed']);
  assert.deepEqual(
    results.map((result) => (result.valid ? result.nickname : result.code)),
    expected,
  );
});

testOnBoth('a malformed token and a deletion of unknown outcome fail no other credential of a batch', async () => {
  await using at = await fixture();
  const [pending, live] = [await at.create({ nickname: 'pending' }), await at.create({ nickname: 'live' })];
  at.app.service.services.apiKeys.pending.add(pending.id, {
    kind: 'delete',
    finish: () => Promise.reject(new Error('still down')),
  });
  const mixed = await at.batch([pending.key, live.key, 'eyJhbGciOiJub25lIn0..', '', at.accessToken]);
  const { results } = mixed.json as { results: BatchResult[] };
  assert.deepEqual(
    results.map((result) => (result.valid ? result.type : result)),
    [
      { valid: false, code: 'unavailable' },
      'api_key',
      { valid: false, code: 'malformed' },
      { valid: false, code: 'malformed' },
      'access_token',
    ],
  );
  assertProblem(fromFetch(await at.batch([pending.key, pending.key])), 'unavailable', 'no credential has a result');
  const one = await at.app.call('POST', '/auth/verify', { headers: at.service, json: { credential: pending.key } });
  assertProblem(fromFetch(one), 'unavailable');
});

test('a batch has 1 to 256 credentials, and its body may be as large as they need', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'worker' });
  using reads = countDatabaseReads();
  const full = await at.batch(Array.from({ length: limits.credentialsPerBatchMax }, () => key));
  const { results } = full.json as { results: VerifyResult[] };
  assert.deepEqual([full.status, results.length, results.every(({ valid }) => valid)], [200, 256, true]);
  assert.equal(reads.count(), 257, 'one read each, and one for the caller');
  for (const credentials of [
    Array.from({ length: 257 }, () => key),
    [],
    key,
    null,
    [key, 5],
    [[key]],
    ['x'.repeat(4_097)],
  ]) {
    assertProblem(fromFetch(await at.batch(credentials)), 'invalid_request', JSON.stringify(credentials).slice(0, 40));
  }
  const json = { ...at.service, 'content-type': 'application/json' };
  const padded = (bytes: number) => {
    const body = JSON.stringify({ credentials: [key] });
    return at.app.call('POST', '/auth/verify/batch', { headers: json, body: body + ' '.repeat(bytes - body.length) });
  };
  assert.equal((await padded(limits.batchBodyBytesMax)).status, 200);
  assertProblem(fromFetch(await padded(limits.batchBodyBytesMax + 1)), 'body_too_large');
  const longest = Array.from({ length: limits.credentialsPerBatchMax }, () => 'x'.repeat(limits.authorizationCharsMax));
  const body = JSON.stringify({ credentials: longest }, undefined, 2);
  const indented = await at.app.call('POST', '/auth/verify/batch', { headers: json, body });
  assert.equal(indented.status, 200, 'with indentation');
  const needed = JSON.stringify({ credentials: longest }).length;
  assert.ok(limits.batchBodyBytesMax <= needed * 1.01, 'at most 1 % more than needed');
});

test('a body contains exactly one credential and no other member', { tags: ['asvs:15.3.5'] }, async () => {
  await using at = await fixture();
  const bodies = [
    {},
    { credential: null },
    { credential: ['a'] },
    { credential: 'a', scope: 'b' },
    { token: 'a' },
    'a',
    [],
  ];
  for (const json of [...bodies, { credential: 'x'.repeat(4_097) }]) {
    const rejected = await at.app.call('POST', '/auth/verify', { headers: at.service, json });
    assertProblem(fromFetch(rejected), 'invalid_request', JSON.stringify(json).slice(0, 40));
  }
});

test(
  'only a caller with a valid key that has keyreeve:verify gets results',
  { tags: ['asvs:8.2.1', 'asvs:10.4.10', 'asvs:13.2.1'] },
  async () => {
    await using at = await fixture();
    const { app } = at;
    const { apiKeys, accounts } = app.service.services;
    const { id, key } = await at.create({ nickname: 'worker', scopes: ['verify', 'Keyreeve:verify'] });
    const owner = await app.createAccount();
    const newServiceKey = async (nickname: string, expiresAt: number | null = null) =>
      apiKeys.create(operator, owner.id, { nickname, scopes: ['keyreeve:verify'], expiresAt });
    const [live, deleted, expired] = [
      await newServiceKey('live'),
      await newServiceKey('deleted'),
      await newServiceKey('expired', app.clock.now() + 1),
    ];
    await apiKeys.delete(operator, owner.id, deleted.id);
    app.clock.advance({ seconds: 1 });
    const table: Readonly<Record<string, readonly [headers: Headers, code: ErrorCode]>> = {
      'no credential': [{}, 'invalid_service_key'],
      'a key without the scope': [bearer(key), 'insufficient_scope'],
      'a key without the scope as X-API-Key': [{ 'x-api-key': key }, 'insufficient_scope'],
      'an access token': [bearer(at.accessToken), 'invalid_service_key'],
      'a refresh token': [bearer(at.refreshToken), 'invalid_service_key'],
      'email and password': [basic(at.account.email, goodPassword), 'invalid_service_key'],
      'a service key as Basic, which only introspection accepts': [
        basic(String(live.id), live.secret.reveal()),
        'invalid_service_key',
      ],
      'a deleted service key': [bearer(deleted.secret.reveal()), 'invalid_service_key'],
      'an expired service key': [bearer(expired.secret.reveal()), 'invalid_service_key'],
      'two credentials': [{ ...at.service, 'x-api-key': live.secret.reveal() }, 'ambiguous_credentials'],
    };
    const assertRejected = async (headers: Headers, code: ErrorCode, what: string): Promise<void> => {
      for (const [path, json] of [
        ['/auth/verify', { credential: key }],
        ['/auth/verify/batch', { credentials: [key] }],
        ['/auth/verify', 'not an object'],
      ] as const) {
        const rejected = await app.call('POST', path, { headers, json });
        assertProblem(fromFetch(rejected), code, what);
        assert.ok(!rejected.text.includes(String(id)), what);
        if (code !== 'insufficient_scope') continue;
        const challenge = 'Bearer realm="keyreeve", error="insufficient_scope", scope="keyreeve:verify"';
        assert.equal(rejected.headers.get('www-authenticate'), challenge);
      }
    };
    for (const [what, [headers, code]] of Object.entries(table)) await assertRejected(headers, code, what);

    const header = { 'x-api-key': live.secret.reveal() };
    assert.equal((await app.call('POST', '/auth/verify', { headers: header, json: { credential: key } })).status, 200);
    await accounts.disable(operator, owner.id);
    await assertRejected(header, 'invalid_service_key', 'a disabled account’s service key');
  },
);

test('one read returns the key of the caller and the verified credential', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'worker' });
  const lookups = async (call: () => Promise<unknown>): Promise<number[]> => {
    using reads = countDatabaseReads();
    await call();
    return reads.sharedLengths();
  };
  assert.deepEqual(await lookups(() => at.verify(key)), [2]);
  const many = Array.from({ length: 100 }, () => key);
  assert.deepEqual(await lookups(() => at.batch(many)), [1, 100], 'a batch is one read, after that of the caller');
  assert.deepEqual(
    await lookups(() => at.batch([key, key])),
    [1, 2],
    'also a short one: its caller is authenticated first',
  );
});

testOnBoth('requests of one caller share a lookup only until its read begins', async () => {
  await using at = await fixture();
  const { key, id } = await at.create({ nickname: 'service' });
  const { verifier } = at.app.service.services;
  const verify = () => verifier.verifyKey(key, { ...unconditional, isUnlimited: true });
  using reads = countDatabaseReads();
  const early = [verify(), verify()];
  // After the turn in which the read begins.
  await new Promise(setImmediate);
  const results = await Promise.all([...early, verify()]);
  assert.deepEqual(
    results.map(({ valid }) => valid),
    [true, true, true],
  );
  assert.deepEqual(reads.sharedLengths(), [1, 1]);
  await at.app.call('DELETE', `/auth/api-keys/${id}`, { headers: bearer(at.accessToken) });
  assert.equal((await verify()).valid, false);
});

test('a caller without a valid key gets the same response for every body', async () => {
  await using at = await fixture();
  const { id, secret } = await at.app.service.services.apiKeys.create(operator, at.account.id, {
    nickname: 'deleted',
    scopes: ['keyreeve:verify'],
    expiresAt: null,
  });
  await at.app.service.services.apiKeys.delete(operator, at.account.id, id);
  const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
    malformed: ['application/json', '{"credential":'],
    invalid: ['application/json', '{"credential":5}'],
    'of another type': ['text/plain', 'credential'],
    'too large': ['application/json', `{"credential":"${'x'.repeat(limits.bodyBytesMax)}"}`],
    'longer than a shared read': ['application/json', `{"credential":"${'x'.repeat(limits.sharedReadBodyBytesMax)}"}`],
    empty: ['application/json', ''],
  };
  for (const [what, [type, body]] of Object.entries(bodies)) {
    const headers = { ...bearer(secret.reveal()), 'content-type': type };
    const rejected = await at.app.call('POST', '/auth/verify', { headers, body });
    assertProblem(fromFetch(rejected), 'invalid_service_key', what);
  }
});

test('a caller whose key is deleted while a short body arrives is rejected', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'worker' });
  const { apiKeys } = at.app.service.services;
  const { id, secret } = await apiKeys.create(operator, at.account.id, {
    nickname: 'service',
    scopes: ['keyreeve:verify'],
    expiresAt: null,
  });
  const body = JSON.stringify({ credential: key });
  const { hostname, port } = new URL(at.app.url);
  const socket = connect(Number(port), hostname);
  const answered = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString('latin1'))));
  socket.write(
    head(
      'POST /auth/verify HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${secret.reveal()}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ) + body.slice(0, 5),
  );
  // The server has parsed the head when it has answered a later request of another client.
  await at.verify(key);
  await apiKeys.delete(operator, at.account.id, id);
  socket.write(body.slice(5));
  assert.match(await answered, /^HTTP\/1\.1 401 /);
  socket.destroy();
});

test('a verification with a result writes no log record at any level', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'worker' });
  at.app.logLines.length = 0;
  await at.verify(key);
  await at.verify('no credential');
  await at.batch([key]);
  assert.deepEqual(at.app.logLines, []);
});
