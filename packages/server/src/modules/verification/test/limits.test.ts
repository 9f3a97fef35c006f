/** Verification of keys with limits: what is spent, and the results of a limit with too few tokens. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { KeyDetails, KeyUsage, VerifyResult } from '@keyreeve/contract';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { bearer, operator } from '../../../../test-kit/new-app.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { KeyLimiter } from '../../key-limits/key-limits.ts';
import { codeOf, fixture, form, once, perMinute, quota } from './limited-keys.ts';

/** Makes all draws fail, as during an outage of the database for writes. */
function failingDraws(): Disposable {
  const failing = mock.method(KeyLimiter.prototype, 'spend', (...args: Parameters<KeyLimiter['spend']>) =>
    args[2](unavailable(new Error('the draw failed'))),
  );
  return { [Symbol.dispose]: () => failing.mock.restore() };
}
test('a verification that is rejected for another reason spends nothing', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', once, {
    scopes: ['a'],
    addresses: ['203.0.113.0/24'],
    expiresAt: new Date(at.app.clock.now() + 60_000).toISOString(),
  });
  const inside = { 'x-forwarded-for': '203.0.113.7' };
  const change = (json: object) => at.app.call('PATCH', `/auth/api-keys/${id}`, { headers: at.owner, json });
  for (let n = 0; n < 3; n++) {
    assertProblem(fromFetch(await at.forward(key)), 'address_unknown');
    assertProblem(fromFetch(await at.forward(key, '', { 'x-forwarded-for': '198.51.100.1' })), 'address_not_allowed');
    assertProblem(fromFetch(await at.forward(key, '?scope=b', inside)), 'insufficient_scope');
    assert.equal(codeOf(await at.verify(key)), 'address_required');
    assert.equal(codeOf(await at.verify(key, { address: '203.0.113.7', scopes: ['b'] })), 'insufficient_scope');
    assert.deepEqual(await at.introspect(key), { active: false });
  }
  await change({ disabled: true });
  assert.equal(codeOf(await at.verify(key, { address: '203.0.113.7' })), 'disabled');
  await change({ disabled: false });
  assert.equal((await at.forward(key, '?scope=a', inside)).status, 200);
  assertProblem(fromFetch(await at.forward(key, '?scope=a', inside)), 'quota_exceeded');
  assertProblem(fromFetch(await at.forward(key, '?scope=b', inside)), 'insufficient_scope', 'before the limits');
  at.app.clock.advance({ seconds: 60 });
  assert.deepEqual(await at.verify(key, { address: '203.0.113.7' }), { valid: false, code: 'expired' });
});

test('all keys of an account share its limits, and a rejection by one limit spends nothing of the others', async () => {
  await using at = await fixture();
  const [plain, limited] = [await at.create('plain', null), await at.create('limited', quota(5))];
  await at.limitAccount({ rate: null, quota: { limit: 4, per: 'day' } });
  assert.equal((await at.forward(plain.key)).status, 200);
  assert.equal((await at.forward(limited.key, '?cost=2')).status, 200);
  for (let n = 0; n < 3; n++)
    assertProblem(fromFetch(await at.forward(limited.key, '?cost=2')), 'quota_exceeded', 'the account has 1 left');
  assert.equal((await at.forward(plain.key)).status, 200);
  for (const { key } of [plain, limited]) assertProblem(fromFetch(await at.forward(key)), 'quota_exceeded');
  await at.limitAccount({ rate: null, quota: { limit: 100, per: 'day' } });
  assert.equal((await at.forward(limited.key, '?cost=3')).status, 200, 'rejections have spent nothing of the key');
  assertProblem(fromFetch(await at.forward(limited.key)), 'quota_exceeded');
  assert.equal((await at.forward(at.accessToken)).status, 200, 'access tokens have no limits');
});

test('/auth/verify returns what limits have left, and when a limit has enough tokens', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', { quota: { limit: 2, per: 'month' } });
  const [accepted, last] = [await at.verify(key), await at.verify(key)];
  const { resetSeconds = 0, ...state } = accepted.limits?.[0] ?? assert.fail();
  assert.deepEqual(state, { policy: 'key-quota', limit: 2, windowSeconds: 2_592_000, remaining: 1 });
  const now = new Date(at.app.clock.now());
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  assert.ok(resetSeconds >= 1 && resetSeconds <= Math.ceil((end - now.getTime()) / 1_000));
  assert.deepEqual(
    { ...accepted, limits: undefined },
    {
      valid: true,
      type: 'api_key',
      accountId: at.account.id,
      keyId: id,
      nickname: 'a',
      scopes: [],
      expiresAt: null,
      limits: undefined,
    },
  );
  assert.equal(last.limits?.[0]?.remaining, 0);
  const refused = await at.verify(key);
  assert.ok(!refused.valid);
  const { retryAfterSeconds = 0, limits = [], ...rest } = refused;
  assert.deepEqual(rest, { valid: false, code: 'quota_exceeded', resetsAt: new Date(end).toISOString() });
  assert.equal(limits[0]?.remaining, 0);
  assert.ok(retryAfterSeconds >= 1 && retryAfterSeconds <= Math.ceil((end - now.getTime()) / 1_000));

  const { key: fast } = await at.create('fast', perMinute(1));
  await at.verify(fast);
  const tooFast = await at.verify(fast);
  assert.ok(!tooFast.valid);
  assert.deepEqual([tooFast.code, tooFast.resetsAt], ['rate_limited', undefined]);
  assert.ok((tooFast.retryAfterSeconds ?? 0) >= 1 && (tooFast.retryAfterSeconds ?? 0) <= 60);

  const { key: ever } = await at.create('ever', { quota: { limit: 1, per: 'ever' } });
  const [state1] = (await at.verify(ever)).limits ?? [];
  assert.deepEqual(state1, { policy: 'key-quota', limit: 1, remaining: 0 });
  assert.deepEqual(await at.verify(ever), {
    valid: false,
    code: 'quota_exceeded',
    limits: [{ policy: 'key-quota', limit: 1, remaining: 0 }],
  });
});

test('a cost of 0 checks the limits and spends nothing; every other cost is spent', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', quota(3));
  for (let n = 0; n < 5; n++) assert.equal((await at.verify(key, { cost: 0 })).limits?.[0]?.remaining, 3);
  assert.equal((await at.verify(key, { cost: 2 })).limits?.[0]?.remaining, 1);
  assert.equal(codeOf(await at.verify(key, { cost: 2 })), 'quota_exceeded');
  assert.equal(codeOf(await at.verify(key, { cost: 0 })), 'valid');
  assert.equal(codeOf(await at.verify(key, { cost: 1 })), 'valid');
  assert.equal(codeOf(await at.verify(key, { cost: 0 })), 'quota_exceeded');
  const { key: large } = await at.create('large', { quota: { limit: 10_000, per: 'day' } });
  assert.equal((await at.verify(large, { cost: 10_000 })).limits?.[0]?.remaining, 0);
  for (const cost of [-1, 1.5, 10_001, '1', null, true, [1]]) {
    for (const [path, json, pointer] of [
      ['/auth/verify', { credential: key, cost }, '/cost'],
      ['/auth/verify/batch', { questions: [{ credential: key }, { credential: key, cost }] }, '/questions/1/cost'],
    ] as const) {
      const wrong = await at.app.call('POST', path, { headers: at.service, json });
      const { errors } = assertProblem(fromFetch(wrong), 'invalid_request', JSON.stringify(cost));
      assert.deepEqual(
        errors?.map((error) => error.pointer),
        [pointer],
      );
    }
  }
});

test('a batch spends the cost of each of its questions, in order, and exactly', async () => {
  await using at = await fixture();
  const [limited, plain] = [await at.create('limited', quota(40)), await at.create('plain', null)];
  const questions = Array.from({ length: 256 }, (_, n) => ({ credential: n % 4 === 3 ? plain.key : limited.key }));
  const results = (await at.batch(questions)).map(codeOf);
  let ofLimited = 0;
  const expected = questions.map(({ credential }) =>
    credential === plain.key || ++ofLimited <= 40 ? 'valid' : 'quota_exceeded',
  );
  assert.deepEqual(results, expected);

  const { key } = await at.create('costs', quota(10));
  const mixed = [
    { credential: key, cost: 4 },
    { credential: key, cost: 0 },
    { credential: 'nonsense', cost: 9 },
    { credential: key, cost: 7 },
    { credential: key, scopes: ['x'], cost: 6 },
    { credential: key, cost: 6 },
    { credential: key },
  ];
  assert.deepEqual((await at.batch(mixed)).map(codeOf), [
    'valid',
    'valid',
    'malformed',
    'quota_exceeded',
    'insufficient_scope',
    'valid',
    'quota_exceeded',
  ]);
});

test('introspection spends 1, and a key with too few tokens is inactive', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', quota(2));
  for (let n = 0; n < 2; n++) assert.equal(((await at.introspect(key)) as { active: boolean }).active, true);
  assert.deepEqual(await at.introspect(key), { active: false });
  assert.equal(codeOf(await at.verify(key)), 'quota_exceeded');
});

test('the limits of a service key and its account do not apply when a service calls with it', async () => {
  await using at = await fixture();
  const { apiKeys } = at.app.service.services;
  const { secret } = await apiKeys.create(operator, at.account.id, {
    nickname: 'service',
    scopes: ['keyreeve:verify'],
    limits: once,
  });
  await at.limitAccount({ rate: null, quota: { limit: 1, per: 'day' } });
  const headers = bearer(secret.reveal());
  for (let n = 0; n < 3; n++)
    assert.equal((await at.app.call('POST', '/auth/verify', { headers, json: { credential: 'a' } })).status, 200);
  assert.equal((await at.forward(secret.reveal())).status, 200, 'nothing was spent');
  assertProblem(fromFetch(await at.forward(secret.reveal())), 'quota_exceeded');
  const answer = await at.app.call('POST', '/auth/verify', { headers, json: { credential: secret.reveal() } });
  assert.equal(codeOf(answer.json as VerifyResult), 'quota_exceeded', 'it is verified like any other key');
});

test('a previous secret spends from the limits of its key', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', quota(2));
  const rotated = await at.app.call('POST', `/auth/api-keys/${id}/rotate`, { headers: at.owner, json: {} });
  const { key: current } = rotated.json as { key: string };
  assert.equal((await at.forward(key)).status, 200);
  assert.equal((await at.forward(current)).status, 200);
  for (const secret of [key, current]) assertProblem(fromFetch(await at.forward(secret)), 'quota_exceeded');
});

test('a rejection by a limit counts as refused in the usage of the key, and is not a use', async () => {
  await using at = await fixture();
  const { id, key } = await at.create('a', once);
  const { verifier, uses } = at.app.service.services;
  const usedAt = new Date(at.app.clock.now()).toISOString();
  await at.verify(key, { address: '203.0.113.7' });
  await uses.flush();
  at.app.clock.advance({ seconds: 300 });
  const before = verifier.counts.quota_exceeded;
  for (let n = 0; n < 3; n++) assert.equal(codeOf(await at.verify(key, { address: '198.51.100.1' })), 'quota_exceeded');
  assert.equal(verifier.counts.quota_exceeded, before + 3);
  await uses.flush();
  const get = async (path: string): Promise<unknown> => (await at.app.call('GET', path, { headers: at.owner })).json;
  const { lastUsedAt, lastUsedFrom } = (await get(`/auth/api-keys/${id}`)) as KeyDetails;
  assert.deepEqual([lastUsedAt, lastUsedFrom], [usedAt, '203.0.113.0/24']);
  const { usage } = (await get(`/auth/api-keys/${id}/usage?step=hour`)) as KeyUsage;
  assert.deepEqual(
    usage.map(({ accepted, refused }) => [accepted, refused]),
    [[1, 3]],
  );
});

testOnBoth('without tokens from the database a key with limits is rejected, and other keys are accepted', async () => {
  await using at = await fixture();
  const [limited, plain] = [await at.create('limited', quota(100)), await at.create('plain', null)];
  assert.equal((await at.forward(limited.key)).status, 200);
  {
    using _ = failingDraws();
    assertProblem(fromFetch(await at.forward(limited.key)), 'unavailable');
    const one = await at.app.call('POST', '/auth/verify', { headers: at.service, json: { credential: limited.key } });
    assertProblem(fromFetch(one), 'unavailable');
    assert.equal((await at.forward(plain.key)).status, 200);
    const mixed = await at.batch([{ credential: limited.key }, { credential: plain.key }, { credential: 'nonsense' }]);
    assert.deepEqual(mixed.map(codeOf), ['unavailable', 'valid', 'malformed']);
    const headers = { ...at.service, ...form };
    const introspected = await at.app.call('POST', '/auth/introspect', { headers, body: `token=${limited.key}` });
    assertProblem(fromFetch(introspected), 'unavailable');
  }
  assert.equal((await at.forward(limited.key)).status, 200);
});
