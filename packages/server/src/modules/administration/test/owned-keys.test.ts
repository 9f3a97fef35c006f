/** The API keys of all accounts, as administrators search them. */
import assert from 'node:assert/strict';
import type { OwnedKeyPage } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { insertKeys, type ManyKey } from '../../../../test-kit/many-rows.ts';
import { indexNames } from '../../api-keys/name-store.ts';
import { newApp, operator } from '../../../../test-kit/new-app.ts';

async function fixture(keys: (now: number) => readonly ManyKey[]) {
  const app = await newApp();
  const administrator = await newAdministrator(app);
  const [ada, bob] = [await app.createAccount('ada@example.com'), await app.createAccount('bob@example.com')];
  const service = await app.service.services.serviceAccounts.create(operator, ada.id, { name: 'nightly' });
  const now = app.clock.now();
  await insertKeys(app.db, ada.id, keys(now));
  await insertKeys(app.db, bob.id, [{ id: 5_000_000, nickname: 'of bob', createdAt: now, scopes: 'read write' }]);
  await insertKeys(app.db, service.id, [{ id: 6_000_000, nickname: 'Of service', createdAt: now, hint: 'krv_…x7Qa' }]);
  const get = (query: string) => administer(app, administrator, 'GET', `api-keys?${query}`);
  const page = async (query: string): Promise<OwnedKeyPage> => {
    const { status, json, text } = await get(query);
    assert.equal(status, 200, text);
    return json as OwnedKeyPage;
  };
  const ids = async (query: string): Promise<{ found: number[]; pages: number }> => {
    const found: number[] = [];
    let pages = 0;
    for (let next: string | null = ''; next !== null; pages++) {
      const { apiKeys, nextCursor }: OwnedKeyPage = await page(`${query}${next === '' ? '' : `&cursor=${next}`}`);
      found.push(...apiKeys.map(({ id }) => id));
      next = nextCursor;
    }
    return { found, pages };
  };
  return { app, now, ada, bob, service, get, page, ids, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const instant = (ms: number): string => new Date(ms).toISOString();

testOnBoth('each filter selects its keys of all accounts, with their owners', async () => {
  await using at = await fixture((now) => [
    { id: 1, nickname: 'Über 100%', createdAt: now - 100, lastUsedAt: now - 50, scopes: 'reader', expiresAt: now + 10 },
    { id: 2, nickname: 'unused', createdAt: now - 100, scopes: 'read' },
    { id: 3, nickname: 'recent', createdAt: now - 100, lastUsedAt: now },
  ]);
  for (const [query, expected] of [
    ['limit=2', [1, 2, 3, 5_000_000, 6_000_000]],
    ['nickname=of', [5_000_000, 6_000_000]],
    ['nickname=%C3%BCber', [1]],
    ['nickname=%25', [1]],
    ['scope=read', [2, 5_000_000]],
    ['scope=write', [5_000_000]],
    [`owner=${at.bob.id}`, [5_000_000]],
    [`owner=${at.ada.id}&scope=read`, [2]],
    ['owner=acc_unknown', []],
    [`unusedSince=${instant(at.now - 50)}`, [2]],
    [`unusedSince=${instant(at.now - 49)}`, [1, 2]],
    [`expiresBefore=${instant(at.now + 11)}`, [1]],
    [`expiresBefore=${instant(at.now + 10)}`, []],
    ['id=2', [2]],
    ['id=4', []],
    ['id=9999999999999999', []],
    ['hint=x7Qa', [6_000_000]],
    ['hint=x7qa', []],
    ['hint=7Qa', [6_000_000]],
    ['hint=Qa', [6_000_000]],
    ['hint=a', [6_000_000]],
    ['hint=7Q', []],
    ['hint=krv_%E2%80%A6x7Qa', [6_000_000]],
    ['hint=krw_%E2%80%A6x7Qa', []],
    ['nickname=BER+100', [1]],
    ['nickname=NUSED&scope=read', [2]],
    ['nickname=NUSED&scope=write', []],
  ] as const)
    assert.deepEqual((await at.ids(query)).found, expected, query);
  const [ofBob] = (await at.page('id=5000000')).apiKeys;
  assert.deepEqual(ofBob?.owner, { id: at.bob.id, email: 'bob@example.com', name: null });
  const [ofService] = (await at.page('id=6000000')).apiKeys;
  assert.deepEqual(ofService?.owner, { id: at.service.id, email: null, name: 'nightly' });
  assert.ok(!('usage' in (ofService ?? {})));
});

testOnBoth('a rare key among 10,000 is found in bounded pages, and pages contain each key once', async () => {
  const count = 10_000;
  await using at = await fixture((now) =>
    Array.from({ length: count }, (_, n) => ({ id: n + 1, nickname: n === 9_999 ? 'rare' : `k${n}`, createdAt: now })),
  );
  while (await indexNames(at.app.db));
  assert.deepEqual(await at.ids('nickname=rare'), { found: [10_000], pages: 1 });
  // No index finds a text of two characters.
  assert.deepEqual(await at.ids('nickname=ra'), { found: [10_000], pages: 3 });
  assert.deepEqual((await at.ids(`owner=${at.ada.id}&nickname=rare`)).found, [10_000]);
  // k1, k10 to k19, k100 to k199, k1000 to k1999.
  const { found } = await at.ids('nickname=k1&limit=50');
  assert.deepEqual([found.length, new Set(found).size], [1_111, 1_111]);
});

test('malformed filters are rejected', async () => {
  await using at = await fixture(() => []);
  const bad = ['id=0', 'id=x', 'nickname=', 'nickname=%00', 'owner=bob', 'scope=', 'scope=a%20b', 'unusedSince=today'];
  bad.push(
    'expiresBefore=',
    'hint=',
    'limit=0',
    'cursor=!',
    'cursor=MA',
    'secret=krv_x',
    `nickname=${'a'.repeat(257)}`,
  );
  for (const query of bad) assertProblem(fromFetch(await at.get(query)), 'invalid_request', query);
});
