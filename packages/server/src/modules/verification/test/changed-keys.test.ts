/** Verification of keys that were changed: previous secrets, disabled keys, IP ranges, metadata, and the last use. */
import assert from 'node:assert/strict';
import type { BatchResult, CreatedKey, KeyDetails, RotatedKey, VerifyResult } from '@keyreeve/contract';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** The test connects from 127.0.0.1, as a proxy does. */
async function fixture(trustedProxies = '127.0.0.1/32') {
  const app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: trustedProxies } });
  const service = bearer(await app.serviceKey());
  const signedIn = await app.signIn();
  const owner = bearer(signedIn.accessToken);
  const create = async (nickname: string, more: object = {}): Promise<CreatedKey> =>
    (await app.call('POST', '/auth/api-keys', { headers: owner, json: { nickname, ...more } })).json as CreatedKey;
  const change = async (id: number, json: object): Promise<void> => {
    const { status, text } = await app.call('PATCH', `/auth/api-keys/${id}`, { headers: owner, json });
    assert.equal(status, 200, text);
  };
  const rotate = async (id: number, json: object = {}): Promise<RotatedKey> => {
    const {
      status,
      text,
      json: rotated,
    } = await app.call('POST', `/auth/api-keys/${id}/rotate`, { headers: owner, json });
    assert.equal(status, 200, text);
    return rotated as RotatedKey;
  };
  const details = async (id: number): Promise<KeyDetails> => {
    await app.service.services.uses.flush();
    return (await app.call('GET', `/auth/api-keys/${id}`, { headers: owner })).json as KeyDetails;
  };
  const verify = async (credential: string, more: object = {}): Promise<VerifyResult> => {
    const answer = await app.call('POST', '/auth/verify', { headers: service, json: { credential, ...more } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as VerifyResult;
  };
  const batch = (json: object) => app.call('POST', '/auth/verify/batch', { headers: service, json });
  const introspect = async (token: string): Promise<object> => {
    const answer = await app.call('POST', '/auth/introspect', {
      headers: { ...service, ...form },
      body: `token=${token}`,
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as object;
  };
  const forward = (credential: string, headers: Readonly<Record<string, string>> = {}) =>
    app.call('GET', '/auth/forward', { headers: { ...bearer(credential), ...headers } });
  const at = { app, service, ...signedIn, owner, create, change, rotate, details, verify, batch, introspect, forward };
  return { ...at, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const instant = (ms: number): string => new Date(ms).toISOString();
const refused = (code: string): object => ({ valid: false, code });
const codesOf = (results: readonly BatchResult[]): string[] =>
  results.map((result) => (result.valid ? 'valid' : result.code));

testOnBoth('a previous secret is valid until the overlap ends, which is its expiry in every result', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', { scopes: ['orders:read'] });
  const { key: current, previousExpiresAt } = await at.rotate(id, { overlapSeconds: 60 });
  const end = at.app.clock.now() + 60_000;
  assert.equal(previousExpiresAt, instant(end));
  const accepted = {
    valid: true,
    type: 'api_key',
    accountId: at.account.id,
    keyId: id,
    nickname: 'a',
    scopes: ['orders:read'],
  };
  assert.deepEqual(await at.verify(key), { ...accepted, expiresAt: instant(end) });
  assert.deepEqual(await at.verify(current), { ...accepted, expiresAt: null });
  const { exp } = (await at.introspect(key)) as { exp?: number };
  assert.equal(exp, Math.floor(end / 1000));
  assert.equal((await at.forward(key)).status, 200);

  at.app.clock.advance({ seconds: 60 });
  assert.deepEqual(await at.verify(key), refused('expired'));
  assert.deepEqual(await at.introspect(key), { active: false });
  assertProblem(fromFetch(await at.forward(key)), 'invalid_credential');
  assert.equal((await at.forward(current)).status, 200);
});

test('a previous secret has the scopes, the expiry and the state of its key', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', { scopes: ['a', 'b'] });
  await at.rotate(id, { overlapSeconds: 3_600 });
  await at.change(id, { scopes: ['a'], expiresAt: instant(at.app.clock.now() + 10_000) });
  const result = await at.verify(key);
  assert.deepEqual(result.valid && [result.scopes, result.expiresAt], [['a'], instant(at.app.clock.now() + 10_000)]);
  await at.change(id, { disabled: true });
  assert.deepEqual(await at.verify(key), refused('disabled'));
  await at.change(id, { disabled: false });
  at.app.clock.advance({ seconds: 10 });
  assert.deepEqual(await at.verify(key), refused('expired'), 'the key expires before the overlap ends');
});

test('no previous secret is valid after an early end, a rotation without overlap, or the deletion of its key', async () => {
  await using at = await fixture();
  const [ended, replaced, deleted] = [
    await at.create('ended'),
    await at.create('replaced'),
    await at.create('deleted'),
  ];
  await at.rotate(ended.id);
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${ended.id}/previous`, { headers: at.owner })).status, 200);
  await at.rotate(replaced.id, { overlapSeconds: 0 });
  await at.rotate(deleted.id);
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${deleted.id}`, { headers: at.owner })).status, 200);
  for (const { key, nickname } of [ended, replaced, deleted]) {
    assert.deepEqual(await at.verify(key), refused('not_found'), nickname);
    assertProblem(fromFetch(await at.forward(key)), 'invalid_credential', nickname);
  }
});

test('a disabled key is rejected by every endpoint until it is enabled', { tags: ['asvs:7.4.1'] }, async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a');
  await at.change(id, { disabled: true });
  assert.deepEqual(await at.verify(key), refused('disabled'));
  assert.deepEqual((await at.batch({ credentials: [key] })).json, { results: [refused('disabled')] });
  assert.deepEqual(await at.introspect(key), { active: false });
  assertProblem(fromFetch(await at.forward(key)), 'invalid_credential');
  await at.change(id, { disabled: false });
  assert.equal((await at.verify(key)).valid, true);
  assert.equal((await at.forward(key)).status, 200);
});

test('a key with IP ranges is accepted by /auth/forward only from a client IP that a trusted proxy reports', async () => {
  await using at = await fixture('127.0.0.1/32,10.0.0.0/8');
  const { id, key } = await at.create('a');
  await at.change(id, { addresses: ['203.0.113.0/24', '2001:db8::/32'] });
  const accepted = [
    '203.0.113.7',
    '::ffff:203.0.113.7',
    '2001:db8:1::1',
    '198.51.100.1, 203.0.113.7',
    '203.0.113.7, 10.0.0.2',
  ];
  for (const hops of accepted) assert.equal((await at.forward(key, { 'x-forwarded-for': hops })).status, 200, hops);
  const outside = ['203.0.114.7', '2001:db9::1', '203.0.113.7, 198.51.100.1', '127.0.0.1', '10.0.0.2'];
  for (const hops of outside) {
    const rejected = await at.forward(key, { 'x-forwarded-for': hops });
    assertProblem(fromFetch(rejected), 'address_not_allowed', hops);
    assert.equal(rejected.headers.get('x-keyreeve-account'), null);
  }
  const unknown: readonly Record<string, string>[] = [
    {},
    { 'x-forwarded-for': '' },
    { 'x-forwarded-for': '203.0.113.7:4711' },
    { 'x-forwarded-for': '203.0.113.7, unknown' },
    { 'x-real-ip': '203.0.113.7' },
    { forwarded: 'for=203.0.113.7' },
    { 'cf-connecting-ip': '203.0.113.7' },
    { 'true-client-ip': '203.0.113.7' },
  ];
  for (const headers of unknown)
    assertProblem(fromFetch(await at.forward(key, headers)), 'address_unknown', JSON.stringify(headers));
  await at.change(id, { addresses: null });
  assert.equal((await at.forward(key)).status, 200);
});

test('without a trusted proxy, X-Forwarded-For does not show the client IP of a key', async () => {
  for (const proxies of ['', '10.0.0.0/8']) {
    await using at = await fixture(proxies);
    const { id, key } = await at.create('a');
    await at.change(id, { addresses: ['203.0.113.0/24', '127.0.0.1'] });
    for (const headers of [{}, { 'x-forwarded-for': '203.0.113.7' }, { 'x-forwarded-for': '127.0.0.1' }])
      assertProblem(fromFetch(await at.forward(key, headers)), 'address_unknown');
  }
});

test('/auth/verify compares the IP ranges of a key with the address that the service sends', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a');
  await at.change(id, { addresses: ['203.0.113.0/24'] });
  assert.deepEqual(await at.verify(key), refused('address_required'));
  assert.deepEqual(await at.verify(key, { address: '203.0.114.7' }), refused('address_not_allowed'));
  assert.deepEqual(await at.verify(key, { address: '2001:db8::1' }), refused('address_not_allowed'));
  for (const address of ['203.0.113.7', '::ffff:203.0.113.7'])
    assert.equal((await at.verify(key, { address })).valid, true, address);
  assert.deepEqual(await at.introspect(key), { active: false }, 'introspection has no address');
  for (const address of [
    '',
    'unknown',
    '203.0.113',
    '203.0.113.7:80',
    '203.0.113.0/24',
    'fe80::1%eth0',
    '0203.0.113.7',
  ]) {
    const wrong = await at.app.call('POST', '/auth/verify', {
      headers: at.service,
      json: { credential: key, address },
    });
    const { errors } = assertProblem(fromFetch(wrong), 'invalid_request', address);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/address'],
    );
  }
});

test('/auth/verify refuses a credential without the required scopes', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', { scopes: ['a', 'b'] });
  for (const scopes of [[], ['a'], ['b', 'a'], ['a', 'a']])
    assert.equal((await at.verify(key, { scopes })).valid, true);
  for (const scopes of [['c'], ['a', 'c'], ['A']])
    assert.deepEqual(await at.verify(key, { scopes }), refused('insufficient_scope'));
  assert.deepEqual(await at.verify(at.accessToken, { scopes: ['a'] }), refused('insufficient_scope'));
  assert.equal((await at.verify(at.accessToken, { scopes: [] })).valid, true);
  for (const scopes of ['a', ['a b'], [''], [null], null, Array.from({ length: 33 }, (_, n) => `s${n}`)]) {
    const wrong = await at.app.call('POST', '/auth/verify', { headers: at.service, json: { credential: key, scopes } });
    assertProblem(fromFetch(wrong), 'invalid_request', JSON.stringify(scopes));
  }
});

test('the questions of a batch have their own scopes and addresses, and share reads', async () => {
  await using at = await fixture();
  const [limited, plain] = [await at.create('limited'), await at.create('plain', { scopes: ['a'] })];
  await at.change(limited.id, { addresses: ['203.0.113.0/24'] });
  const rotated = await at.create('rotated');
  await at.rotate(rotated.id);
  const questions = [
    { credential: limited.key },
    { credential: limited.key, address: '203.0.113.7' },
    { credential: limited.key, address: '198.51.100.1' },
    { credential: plain.key, scopes: ['a'] },
    { credential: plain.key, scopes: ['a', 'b'], address: '198.51.100.1' },
    { credential: rotated.key },
    { credential: 'no credential', scopes: ['a'] },
  ];
  using reads = countDatabaseReads();
  const answer = await at.batch({ questions });
  assert.deepEqual(reads.sharedLengths(), [1, 6, 1], 'the caller, the keys, the previous secret');
  assert.deepEqual(codesOf((answer.json as { results: BatchResult[] }).results), [
    'address_required',
    'valid',
    'address_not_allowed',
    'valid',
    'insufficient_scope',
    'valid',
    'malformed',
  ]);
  assert.deepEqual(
    codesOf(((await at.batch({ credentials: [limited.key, plain.key] })).json as { results: BatchResult[] }).results),
    ['address_required', 'valid'],
  );
});

test('a batch has either credentials or questions, and each question is valid', async () => {
  await using at = await fixture();
  const { key } = await at.create('a');
  const table: Readonly<Record<string, readonly [body: object, pointers: readonly string[]]>> = {
    neither: [{}, ['']],
    both: [{ credentials: [key], questions: [{ credential: key }] }, ['']],
    'no question': [{ questions: [] }, ['/questions']],
    '257 questions': [{ questions: Array.from({ length: 257 }, () => ({ credential: key })) }, ['/questions']],
    'a text': [{ questions: [key] }, ['/questions/0']],
    'no credential': [{ questions: [{ credential: key }, {}] }, ['/questions/1/credential']],
    'an unknown member': [{ questions: [{ credential: key, scope: 'a' }] }, ['/questions/0/scope']],
    'a malformed address': [
      { questions: [{ credential: key }, { credential: key, address: 'x' }] },
      ['/questions/1/address'],
    ],
    'an object among credentials': [{ credentials: [{ credential: key }] }, ['/credentials/0']],
  };
  for (const [what, [body, pointers]] of Object.entries(table)) {
    const { errors } = assertProblem(fromFetch(await at.batch(body)), 'invalid_request', what);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      pointers,
      what,
    );
  }
});

test('a service key with IP ranges is accepted only from them', async () => {
  await using at = await fixture();
  const { apiKeys, keyChanges } = at.app.service.services;
  const { id, secret } = await apiKeys.create(operator, at.account.id, { nickname: 's', scopes: ['keyreeve:verify'] });
  await keyChanges.change(operator, at.account.id, id, { addresses: ['203.0.113.0/24'] });
  const call = (hops: string | undefined) =>
    at.app.call('POST', '/auth/verify', {
      headers: { ...bearer(secret.reveal()), ...(hops === undefined ? {} : { 'x-forwarded-for': hops }) },
      json: { credential: 'a' },
    });
  assert.equal((await call('203.0.113.7')).status, 200);
  for (const hops of [undefined, '198.51.100.1', '203.0.113.7, 198.51.100.1', '203.0.113.7:1', 'unknown'])
    assertProblem(fromFetch(await call(hops)), 'invalid_service_key', hops);
  await keyChanges.change(operator, at.account.id, id, { addresses: ['127.0.0.1'] });
  assert.equal((await call(undefined)).status, 200, 'a service that connects itself');
  assertProblem(fromFetch(await call('unknown')), 'invalid_service_key', 'a malformed entry of the proxy');
});

test('the result has the metadata of a key that has it, and no such member for others', async () => {
  await using at = await fixture();
  const [plain, described] = [await at.create('plain'), await at.create('described')];
  await at.change(described.id, { metadata: { customer: 'cus_182', plan: { seats: 5, tags: ['ü'] } } });
  const [without, having] = [await at.verify(plain.key), await at.verify(described.key)];
  assert.equal('metadata' in without, false);
  assert.deepEqual(having.valid && having.metadata, { customer: 'cus_182', plan: { seats: 5, tags: ['ü'] } });
  const { results } = (await at.batch({ credentials: [plain.key, described.key] })).json as { results: unknown[] };
  assert.deepEqual(results, [without, having]);
  await at.change(described.id, { metadata: null });
  assert.equal('metadata' in (await at.verify(described.key)), false);
});

test('the last use has the range of the client IP that the proxy or the service reports', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a');
  const used = async (use: () => Promise<unknown>): Promise<readonly unknown[]> => {
    at.app.clock.advance({ seconds: 60 });
    await use();
    const { lastUsedAt, lastUsedFrom } = await at.details(id);
    return [lastUsedAt === instant(at.app.clock.now()), lastUsedFrom];
  };
  const through = (hops: string) => used(() => at.forward(key, { 'x-forwarded-for': hops }));
  assert.deepEqual(await through('203.0.113.77'), [true, '203.0.113.0/24']);
  assert.deepEqual(await through('2001:db8:1:2::77'), [true, '2001:db8:1::/48']);
  assert.deepEqual(await used(() => at.verify(key, { address: '198.51.100.9' })), [true, '198.51.100.0/24']);
  assert.deepEqual(await used(() => at.forward(key)), [true, null], 'of the last use, the range is not known');
  const { key: current } = await at.rotate(id);
  assert.deepEqual(await used(() => at.forward(key, { 'x-forwarded-for': '203.0.113.77' })), [true, '203.0.113.0/24']);
  const afterPrevious = await at.details(id);
  assert.equal(afterPrevious.previous?.lastUsedAt, afterPrevious.lastUsedAt);
  await used(() => at.verify(current));
  const afterCurrent = await at.details(id);
  assert.equal(afterCurrent.previous?.lastUsedAt, afterPrevious.lastUsedAt, 'the current secret has its own use');
});
