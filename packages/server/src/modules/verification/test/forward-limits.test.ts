/** `/auth/forward` and keys with limits: 429, the fields about limits, and the parameters `cost` and `limited`. */
import assert from 'node:assert/strict';
import { assertProblem, assertSecurityHeaders, fromFetch } from '../../../../test-kit/assert-problem.ts';
import type { Answered } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { fixture, once, perMinute, quota } from './limited-keys.ts';

const fieldsOf = ({ headers }: Answered): (string | null)[] =>
  ['ratelimit', 'ratelimit-policy', 'retry-after'].map((name) => headers.get(name));
/** The seconds depend on the duration of the test. */
const withoutSeconds = (values: readonly (string | null)[]): (string | null)[] =>
  values.map((value) => value?.replace(/;t=\d+|^\d+$/g, (text) => text.replace(/\d+/, 'n')) ?? null);

test('/auth/forward responds 429 to a key whose rate has too few tokens, with the time of the next attempt', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', perMinute(2));
  const [first, second, third] = [await at.forward(key), await at.forward(key), await at.forward(key)];
  assert.deepEqual([first.status, withoutSeconds(fieldsOf(first))], [200, ['"key-rate";r=1;t=n', null, null]]);
  assert.deepEqual([second.status, withoutSeconds(fieldsOf(second))], [200, ['"key-rate";r=0;t=n', null, null]]);
  assertProblem(fromFetch(third), 'rate_limited');
  assert.deepEqual(withoutSeconds(fieldsOf(third)), ['"key-rate";r=0;t=n', '"key-rate";q=2;w=60', 'n']);
  const [retryAfter, reset] = [third.headers.get('retry-after'), /t=(\d+)/.exec(fieldsOf(third)[0] ?? '')?.[1]];
  assert.ok(Number(retryAfter) >= 1 && Number(retryAfter) <= 30, `${retryAfter}`);
  assert.ok(Number(reset) >= Number(retryAfter) && Number(reset) <= 60, `${reset}`);
  for (const name of ['x-keyreeve-account', 'x-keyreeve-key-id', 'x-keyreeve-refusal'])
    assert.equal(third.headers.get(name), null);
});

test('/auth/forward responds 429 to a key whose quota is used, without Retry-After if it never resets', async () => {
  await using at = await fixture();
  const [daily, ever] = [await at.create('daily', once), await at.create('ever', { quota: { limit: 1, per: 'ever' } })];
  for (const [{ key }, fields] of [
    [daily, ['"key-quota";r=0;t=n', '"key-quota";q=1;w=86400', 'n']],
    [ever, ['"key-quota";r=0', '"key-quota";q=1', null]],
  ] as const) {
    assert.equal((await at.forward(key)).status, 200);
    const rejected = await at.forward(key);
    assertProblem(fromFetch(rejected), 'quota_exceeded');
    assert.deepEqual(withoutSeconds(fieldsOf(rejected)), fields);
  }
  const { key } = await at.create('burst', perMinute(5));
  const never = await at.forward(key, '?cost=6');
  assertProblem(fromFetch(never), 'rate_limited');
  assert.equal(never.headers.get('retry-after'), null, 'the cost exceeds the burst');
});

test('a key with all four limits names each of them, and needs enough tokens in all', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', { ...perMinute(50), ...quota(20) });
  await at.limitAccount({
    rate: { limit: 30, windowSeconds: 60, burst: 10 },
    quota: { limit: 3, per: 'month' },
  });
  assert.deepEqual(withoutSeconds(fieldsOf(await at.forward(key))), [
    '"key-rate";r=49;t=n, "key-quota";r=19;t=n, "account-rate";r=9;t=n, "account-quota";r=2;t=n',
    null,
    null,
  ]);
  const rejected = await at.forward(key, '?cost=3');
  assertProblem(fromFetch(rejected), 'quota_exceeded');
  assert.equal(
    rejected.headers.get('ratelimit-policy'),
    '"key-rate";q=50;w=60, "key-quota";q=20;w=86400, "account-rate";q=30;w=60, "account-quota";q=3;w=2592000',
  );
});

test('limited=403 gives a rejection by a limit the status 403, and no other response changes', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', once);
  assert.equal((await at.forward(key, '?limited=403&scope=x')).headers.get('x-keyreeve-refusal'), null);
  assert.equal((await at.forward(key, '?limited=403')).status, 200);
  for (const query of ['?limited=403', '?limited=403&limited=403&cost=1', '?x=y&limited=403']) {
    const rejected = await at.forward(key, query);
    const { status, code } = rejected.json as { status: number; code: string };
    assert.deepEqual([rejected.status, status, code], [403, 403, 'quota_exceeded'], query);
    assert.equal(rejected.headers.get('x-keyreeve-refusal'), 'quota_exceeded');
    assert.equal(rejected.headers.get('www-authenticate'), null);
    assert.deepEqual(withoutSeconds(fieldsOf(rejected)), ['"key-quota";r=0;t=n', '"key-quota";q=1;w=86400', 'n']);
    assertSecurityHeaders(fromFetch(rejected));
  }
  const { key: fast } = await at.create('fast', perMinute(1));
  await at.forward(fast);
  assert.equal((await at.forward(fast, '?limited=403')).headers.get('x-keyreeve-refusal'), 'rate_limited');
  assertProblem(fromFetch(await at.forward(key)), 'quota_exceeded', 'without the parameter');
  assertProblem(fromFetch(await at.forward('wrong', '?limited=403')), 'invalid_credential');
  for (const query of ['?limited=', '?limited=429', '?limited=403&limited=200', '?limited=0403', '?limited=403%20'])
    assertProblem(fromFetch(await at.forward(key, query)), 'invalid_request', query);
});

test('the largest cost of a query is spent, and no query makes a verification free', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', quota(20));
  const left = async (query: string): Promise<string | null> => {
    const answer = await at.forward(key, query);
    assert.equal(answer.status, 200, query);
    return withoutSeconds(fieldsOf(answer))[0] ?? null;
  };
  assert.equal(await left(''), '"key-quota";r=19;t=n');
  assert.equal(await left('?cost=1'), '"key-quota";r=18;t=n');
  assert.equal(await left('?cost=5&cost=1'), '"key-quota";r=13;t=n');
  assert.equal(await left('?cost=1&cost=5&path=/x&cost=2'), '"key-quota";r=8;t=n');
  for (const cost of [
    '0',
    '-1',
    '+1',
    '',
    '1.5',
    '1e1',
    '0x1',
    '01',
    ' 1',
    '1 ',
    'abc',
    '10001',
    '100000',
    '٣',
    'null',
  ]) {
    for (const query of [`?cost=${encodeURIComponent(cost)}`, `?cost=2&cost=${encodeURIComponent(cost)}`]) {
      const { detail } = assertProblem(fromFetch(await at.forward(key, query)), 'invalid_request', query);
      assert.equal(detail, 'The parameter cost must be a whole number from 1 to 10000.');
    }
  }
  const { key: large } = await at.create('large', { quota: { limit: 10_000, per: 'day' } });
  assert.equal((await at.forward(large, '?cost=10000')).status, 200);
  assertProblem(fromFetch(await at.forward(large)), 'quota_exceeded');
  assert.equal(await left('?cost=8'), '"key-quota";r=0;t=n', 'an invalid query spends nothing');
});

test('a rejection by a limit is not logged at the default level', async () => {
  await using at = await fixture();
  const { key } = await at.create('a', once);
  await at.forward(key);
  at.app.logLines.length = 0;
  await at.forward(key);
  assert.deepEqual(
    at.app.logLines.map((line) => (JSON.parse(line) as { level: string }).level),
    ['debug'],
  );
  assert.ok(!at.app.logLines.join().includes(key));
});
