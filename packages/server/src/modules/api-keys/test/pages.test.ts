/** The list of API keys in pages. Without `limit` and `cursor` the response is the whole list. */
import assert from 'node:assert/strict';
import type { ListedKeyFull, ListTotal } from '@keyreeve/contract';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

interface Page {
  readonly apiKeys: ListedKeyFull[];
  readonly nextCursor?: string | null;
  readonly total?: ListTotal;
}

async function fixture(count: number) {
  const app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off', KEYREEVE_KEYS_PER_ACCOUNT_MAX: '200' } });
  const user = await app.signIn();
  const headers = bearer(user.accessToken);
  const create = async (nickname: string): Promise<number> => {
    const { json } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
    return (json as { id: number }).id;
  };
  for (let n = 0; n < count; n++) {
    await create(`key ${n}`);
    // Three keys share each time, so their order depends on the ids.
    if (n % 3 === 2) app.clock.advance({ seconds: 1 });
  }
  const page = async (query: string): Promise<Page> => {
    const { status, json, text } = await app.call('GET', `/auth/api-keys${query}`, { headers });
    assert.equal(status, 200, text);
    return json as Page;
  };
  return { app, headers, create, page, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Requests all pages. */
async function pages(page: (query: string) => Promise<Page>, query: string): Promise<Page[]> {
  const all: Page[] = [await page(`?${query}`)];
  for (let next = all[0]?.nextCursor; next; next = all.at(-1)?.nextCursor)
    all.push(await page(`?${query}&cursor=${next}`));
  return all;
}

testOnBoth('pages of any size contain each key once, in the order of the whole list', async () => {
  await using at = await fixture(10);
  const whole = await at.page('');
  assert.deepEqual([Object.keys(whole), whole.apiKeys.length], [['apiKeys'], 10]);
  for (const [limit, sizes] of [
    [1, Array.from({ length: 10 }, () => 1)],
    [4, [4, 4, 2]],
    [5, [5, 5]],
    [10, [10]],
    [100, [10]],
  ] as const) {
    const all = await pages(at.page, `limit=${limit}`);
    assert.deepEqual(
      all.map(({ apiKeys }) => apiKeys.length),
      sizes,
    );
    assert.deepEqual(
      all.flatMap(({ apiKeys }) => apiKeys),
      whole.apiKeys,
    );
    assert.equal(all.at(-1)?.nextCursor, null);
  }
  const full = await pages(at.page, 'view=full&limit=3');
  assert.deepEqual(
    full.flatMap(({ apiKeys }) => apiKeys),
    (await at.page('?view=full')).apiKeys,
  );
});

test('a page without a limit has a hundred keys', async () => {
  await using at = await fixture(103);
  const first = await at.page('?limit=2');
  const rest = await at.page(`?cursor=${first.nextCursor}`);
  assert.deepEqual([rest.apiKeys.length, typeof rest.nextCursor], [100, 'string']);
});

testOnBoth('a total counts the keys of all pages, only for the first page and on request', async () => {
  await using at = await fixture(10);
  const total = async (query: string) => (await at.page(`?total=true${query}`)).total;
  assert.deepEqual(await total(''), { count: 10, isExact: true });
  assert.deepEqual(await total('&limit=3'), { count: 10, isExact: true });
  assert.deepEqual(await total('&search=KEY+1'), { count: 1, isExact: true });
  assert.deepEqual(await total('&state=active&sort=-nickname&limit=1'), { count: 10, isExact: true });
  assert.deepEqual(await total('&state=disabled'), { count: 0, isExact: true });
  assert.deepEqual(await total('&view=full&usage=7d&limit=1'), { count: 10, isExact: true });
  const first = await at.page('?limit=3');
  assert.deepEqual(Object.keys(first), ['apiKeys', 'nextCursor']);
  const path = `/auth/api-keys?total=true&cursor=${first.nextCursor}`;
  assertProblem(fromFetch(await at.app.call('GET', path, { headers: at.headers })), 'invalid_request');
});

testOnBoth('creations and deletions between pages neither hide nor repeat other keys', async () => {
  await using at = await fixture(6);
  const whole = (await at.page('')).apiKeys.map(({ id }) => id);
  const { nextCursor } = await at.page('?limit=3');
  await at.app.call('DELETE', `/auth/api-keys/${whole[2]}`, { headers: at.headers });
  await at.app.call('DELETE', `/auth/api-keys/${whole[4]}`, { headers: at.headers });
  const created = await at.create('late');
  const rest = await at.page(`?limit=10&cursor=${nextCursor}`);
  assert.deepEqual(
    rest.apiKeys.map(({ id }) => id),
    [whole[3], whole[5], created],
  );
});

test('a cursor of one account returns no keys to another account', async () => {
  await using at = await fixture(3);
  const { nextCursor } = await at.page('?limit=1');
  const other = await at.app.signIn();
  const { json } = await at.app.call('GET', `/auth/api-keys?cursor=${nextCursor}`, {
    headers: bearer(other.accessToken),
  });
  assert.deepEqual(json, { apiKeys: [], nextCursor: null });
});

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

test('a limit out of bounds and a malformed cursor are rejected', async () => {
  await using app: TestApp = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const bad = ['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'cursor=', 'cursor=!'];
  for (const text of ['', 'a', '1', '1.', '.1', '1.0', '01.1', '1.1.1', '-1.1', '1.9007199254740993', "1.1' or 1=1"])
    bad.push(`cursor=${encoded(text)}`);
  bad.push(`cursor=${encoded('1.1')}=`, `cursor=${'a'.repeat(513)}`);
  for (const query of bad) {
    assertProblem(fromFetch(await app.call('GET', `/auth/api-keys?${query}`, { headers })), 'invalid_request', query);
  }
});
