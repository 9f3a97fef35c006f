/** Limits on the number of keys and on the rate of creations, with concurrent requests. */
import assert from 'node:assert/strict';
import type { CreatedKey } from '@keyreeve/contract';
import { bearer, newApp, type Answered } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const rivals = 50;
/** Each waits for the commits of the others. With more, the wait for a connection times out on a slow machine. */
const rivalsOfOneAccount = 20;

/** Runs `count` calls, at most `width` of them at once. */
async function inParallel(
  count: number,
  width: number,
  call: (index: number) => Promise<Answered>,
): Promise<Answered[]> {
  const answers: Answered[] = [];
  let next = 0;
  const callNext = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      answers.push(await whenAvailable(() => call(index)));
    }
  };
  await Promise.all(Array.from({ length: width }, callNext));
  return answers;
}

const split = (answers: readonly Answered[], status: number): [Answered[], Answered[]] => [
  answers.filter((answer) => answer.status === status),
  answers.filter((answer) => answer.status !== status),
];

function oneOf([first]: readonly Answered[]): CreatedKey {
  assert.ok(first);
  return first.json as CreatedKey;
}

async function fixture(environment: Record<string, string> = {}) {
  const app = await newApp({ environment });
  const headers = bearer((await app.signIn()).accessToken);
  const create = (nickname: string) => app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
  const remove = (id: number) => app.call('DELETE', `/auth/api-keys/${id}`, { headers });
  const list = async () =>
    ((await app.call('GET', '/auth/api-keys', { headers })).json as { apiKeys: CreatedKey[] }).apiKeys;
  return { app, create, remove, list, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

testOnBoth('of fifty concurrent deletions of one key, one succeeds', async () => {
  await using at = await fixture();
  const { id } = (await at.create('worker')).json as CreatedKey;
  const [deleted, rejected] = split(await inParallel(rivals, rivals, () => at.remove(id)), 200);
  assert.equal(deleted.length, 1);
  for (const answer of rejected) assertProblem(fromFetch(answer), 'key_not_found');
  assert.deepEqual(await at.list(), []);
});

testOnBoth('concurrent creations never exceed a hundred keys of an account', { tags: ['asvs:2.3.2'] }, async () => {
  await using at = await fixture();
  const [created, rejected] = split(
    await inParallel(130, rivalsOfOneAccount, (index) => at.create(`key ${index}`)),
    201,
  );
  assert.equal(created.length, 100);
  for (const answer of rejected) assertProblem(fromFetch(answer), 'key_limit_reached');
  assert.equal((await at.list()).length, 100);

  const { id } = oneOf(created);
  assert.equal((await at.remove(id)).status, 200);
  assert.equal((await at.create('the hundredth again')).status, 201);
  assertProblem(fromFetch(await at.create('one more')), 'key_limit_reached');
  // Each account has its own limit.
  const other = bearer((await at.app.signIn()).accessToken);
  const created2 = await at.app.call('POST', '/auth/api-keys', { headers: other, json: { nickname: 'a' } });
  assert.equal(created2.status, 201);
});

testOnBoth('concurrent creations never exceed 300 a minute of an account', { tags: ['asvs:2.3.2'] }, async () => {
  await using at = await fixture({ KEYREEVE_KEYS_PER_ACCOUNT_MAX: '1000' });
  at.app.clock.advance({ seconds: 7 });
  const [created, rejected] = split(
    await inParallel(310, rivalsOfOneAccount, (index) => at.create(`key ${index}`)),
    201,
  );
  assert.equal(created.length, 300);
  for (const answer of rejected) {
    assertProblem(fromFetch(answer), 'too_many_creations');
    const rate = ['retry-after', 'ratelimit-policy', 'ratelimit'].map((name) => answer.headers.get(name));
    assert.deepEqual(rate, ['60', '"creations";q=300;w=60', '"creations";r=0;t=60']);
  }
  const other = bearer((await at.app.signIn()).accessToken);
  const others = await at.app.call('POST', '/auth/api-keys', { headers: other, json: { nickname: 'a' } });
  assert.equal(others.status, 201, 'another account is not limited');

  at.app.clock.advance({ seconds: 59 });
  assert.equal((await at.create('too soon')).headers.get('retry-after'), '1');
  at.app.clock.advance({ seconds: 1 });
  assert.equal((await at.create('in time')).status, 201);
});

test('a deletion does not reduce the count of creations', async () => {
  await using at = await fixture({ KEYREEVE_CREATIONS_PER_MINUTE_MAX: '3' });
  for (const nickname of ['a', 'b', 'c']) {
    const { id } = (await at.create(nickname)).json as CreatedKey;
    assert.equal((await at.remove(id)).status, 200);
  }
  assertProblem(fromFetch(await at.create('d')), 'too_many_creations');
});

test('with KEYREEVE_THROTTLE=off only the number of keys is limited', async () => {
  await using at = await fixture({
    KEYREEVE_THROTTLE: 'off',
    KEYREEVE_CREATIONS_PER_MINUTE_MAX: '1',
    KEYREEVE_KEYS_PER_ACCOUNT_MAX: '3',
  });
  for (const nickname of ['a', 'b', 'c']) assert.equal((await at.create(nickname)).status, 201);
  assertProblem(fromFetch(await at.create('d')), 'key_limit_reached');
});
