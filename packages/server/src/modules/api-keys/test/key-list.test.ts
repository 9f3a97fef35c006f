/** Lists of API keys by text, state and order, with recent usage. */
import assert from 'node:assert/strict';
import type { ListedKeyFull } from '@keyreeve/contract';
import { dayMs, hourMs } from '../../../foundation/clock.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { insertKeys, type ManyKey } from '../../../../test-kit/many-rows.ts';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { addUsage, useKeys } from '../../../../test-kit/uses.ts';

interface Page {
  readonly apiKeys: ListedKeyFull[];
  readonly nextCursor?: string | null;
}

async function fixture(keys: (now: number) => readonly ManyKey[], environment: Record<string, string> = {}) {
  const app = await newApp({ environment });
  const user = await app.signIn();
  await insertKeys(app.db, user.account.id, keys(app.clock.now()));
  const headers = bearer(user.accessToken);
  const call = (query: string, path = '/auth/api-keys') => app.call('GET', `${path}?${query}`, { headers });
  const page = async (query: string): Promise<Page> => {
    const { status, json, text } = await call(query);
    assert.equal(status, 200, text);
    return json as Page;
  };
  const nicknames = async (query: string): Promise<string[]> => (await page(query)).apiKeys.map((key) => key.nickname);
  return { app, user, headers, call, page, nicknames, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

/** The nicknames of all pages. */
async function allPages({ page }: Fixture, query: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | null | undefined = ''; next !== null && next !== undefined;) {
    const { apiKeys, nextCursor }: Page = await page(`${query}${next === '' ? '' : `&cursor=${next}`}`);
    found.push(...apiKeys.map(({ nickname }) => nickname));
    next = nextCursor;
  }
  return found;
}

const fewKeys = (now: number): ManyKey[] => [
  { id: 1, nickname: 'Über Dienst', createdAt: now, hint: 'krv_…aB3x', lastUsedAt: now - 5 },
  { id: 2, nickname: 'billing 100%', createdAt: now - 10, hint: 'krv_…x7Qa', expiresAt: now + 14 * dayMs },
  { id: 3, nickname: 'Billing_test', createdAt: now - 10, hint: null, expiresAt: now + 14 * dayMs + 1 },
  { id: 4, nickname: 'old', createdAt: now - 30, hint: 'krv_…0000', expiresAt: now, lastUsedAt: now - 5 },
  { id: 5, nickname: 'off', createdAt: now - 20, hint: 'krv_…1111', disabledAt: now, expiresAt: now - 1 },
];

testOnBoth('a search finds part of the nickname in any case, or the end of the hint, without wildcards', async () => {
  await using at = await fixture(fewKeys);
  for (const [search, expected] of [
    ['BILL', ['billing 100%', 'Billing_test']],
    ['über', ['Über Dienst']],
    ['ÜBER d', ['Über Dienst']],
    ['dienst', ['Über Dienst']],
    ['BER D', ['Über Dienst']],
    ['bEr DiEnSt', ['Über Dienst']],
    ['%', ['billing 100%']],
    ['_', ['Billing_test']],
    ['x7Qa', ['billing 100%']],
    ['7Qa', ['billing 100%']],
    ['krv_…aB3x', ['Über Dienst']],
    ['x7qa', []],
    ["' or 1=1 --", []],
    ['x7Q', []],
  ] as const)
    assert.deepEqual(
      await at.nicknames(`view=full&sort=nickname&search=${encodeURIComponent(search)}`),
      expected,
      search,
    );
});

testOnBoth('a search finds nicknames of all scripts in any case, created or renamed, and without joiners', async () => {
  await using at = await fixture(() => []);
  const names = [
    'Новый Ключ',
    'Größe Ändern',
    'École Élémentaire',
    'ΑΘΗΝΑ Οδός',
    'İstanbul',
    'ЧервонийЛан',
    'ＡＢＣ',
    'കലിద',
    'کلید\u200cها',
  ];
  const ids: number[] = [];
  for (const nickname of names) {
    const created = await at.app.call('POST', '/auth/api-keys', { headers: at.headers, json: { nickname } });
    assert.equal(created.status, 201, created.text);
    ids.push((created.json as ListedKeyFull).id);
  }
  const find = (text: string) => at.nicknames(`search=${encodeURIComponent(text)}`);
  const mixed = (text: string): string =>
    [...text].map((letter, index) => (index % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');
  const assertFound = async (name: string): Promise<void> => {
    for (const form of [name, name.toLowerCase(), name.toUpperCase(), mixed(name), name.slice(2).toUpperCase()])
      assert.deepEqual(await find(form), [name], form);
    assert.deepEqual(await find(name.replaceAll('\u200c', '')), [name]);
  };
  for (const name of names) await assertFound(name);
  const [id, renamed] = [ids[0] ?? 0, 'Старый Замок'];
  const changed = await at.app.call('PATCH', `/auth/api-keys/${id}`, {
    headers: at.headers,
    json: { nickname: renamed },
  });
  assert.equal(changed.status, 200, changed.text);
  await assertFound(renamed);
  assert.deepEqual(await find('новый'), []);
});

testOnBoth('each key is active, expired or disabled, and active keys that expire soon are expiring', async () => {
  await using at = await fixture(fewKeys);
  const of = (state: string) => at.nicknames(`view=full&sort=nickname&state=${state}`);
  assert.deepEqual(await of('active'), ['billing 100%', 'Billing_test', 'Über Dienst']);
  assert.deepEqual(await of('expiring'), ['billing 100%']);
  assert.deepEqual(await of('expired'), ['old']);
  assert.deepEqual(await of('disabled'), ['off']);
  assert.deepEqual(await at.nicknames('view=full&state=active&search=billing&sort=-nickname'), [
    'Billing_test',
    'billing 100%',
  ]);
});

const orders = {
  created: ['old', 'off', 'billing 100%', 'Billing_test', 'Über Dienst'],
  nickname: ['billing 100%', 'Billing_test', 'off', 'old', 'Über Dienst'],
  lastUsed: ['billing 100%', 'Billing_test', 'off', 'Über Dienst', 'old'],
  expires: ['off', 'old', 'billing 100%', 'Billing_test', 'Über Dienst'],
};

testOnBoth('pages of any size contain each key once, in each order and its reverse', async () => {
  await using at = await fixture(fewKeys);
  for (const [sort, expected] of Object.entries(orders))
    for (const limit of [1, 2, 5, 100]) {
      assert.deepEqual(await allPages(at, `sort=${sort}&limit=${limit}`), expected, sort);
      assert.deepEqual(await allPages(at, `view=full&sort=-${sort}&limit=${limit}`), expected.toReversed(), sort);
    }
});

testOnBoth('a key that is used between two pages neither hides nor repeats keys that are not', async () => {
  await using at = await fixture(fewKeys);
  const first = await at.page('sort=-lastUsed&limit=2');
  assert.deepEqual(
    first.apiKeys.map(({ id }) => id),
    [4, 1],
  );
  await useKeys(at.app.db, [{ id: 1, at: at.app.clock.now() + 60_000 }]);
  assert.deepEqual(await at.nicknames(`sort=-lastUsed&limit=9&cursor=${first.nextCursor}`), [
    'off',
    'Billing_test',
    'billing 100%',
  ]);
});

testOnBoth('the usage of seven days has the sums of each day, for the owner and for a service account', async () => {
  await using at = await fixture(fewKeys);
  const today = Math.floor(at.app.clock.now() / dayMs) * dayMs;
  await addUsage(at.app.db, [
    { keyId: 1, at: today, accepted: 1, refused: 2 },
    { keyId: 1, at: today + hourMs, accepted: 10, refused: 0 },
    { keyId: 1, at: today - 6 * dayMs, accepted: 100, refused: 0 },
    { keyId: 1, at: today - 6 * dayMs - hourMs, accepted: 1_000, refused: 7 },
    { keyId: 99, at: today, accepted: 5, refused: 5 },
  ]);
  const { apiKeys, nextCursor } = await at.page('view=full&usage=7d&sort=-created');
  assert.deepEqual(apiKeys[0]?.usage, { accepted: 111, refused: 2, days: [100, 0, 0, 0, 0, 0, 11] });
  assert.deepEqual(apiKeys[1]?.usage, { accepted: 0, refused: 0, days: [0, 0, 0, 0, 0, 0, 0] });
  assert.equal(nextCursor, null);
  const service = await at.app.call('POST', '/auth/service-accounts', {
    headers: at.headers,
    json: { name: 'worker' },
  });
  const path = `/auth/service-accounts/${(service.json as { id: string }).id}/api-keys`;
  await at.app.call('POST', path, { headers: at.headers, json: { nickname: 'nightly' } });
  const listed = (await at.call('view=full&usage=7d&search=NIGHT&state=active', path)).json as Page;
  assert.deepEqual(
    listed.apiKeys.map(({ nickname, usage }) => [nickname, usage?.days]),
    [['nightly', [0, 0, 0, 0, 0, 0, 0]]],
  );
});

test('without counted verifications the usage is null', async () => {
  await using at = await fixture(fewKeys, { KEYREEVE_USAGE_DAYS: '0' });
  const { apiKeys } = await at.page('view=full&usage=7d');
  assert.deepEqual([...new Set(apiKeys.map(({ usage }) => usage))], [null]);
});

test('without parameters the list has all keys and the members of before', async () => {
  await using at = await fixture(fewKeys);
  const plain = await at.page('');
  assert.deepEqual(Object.keys(plain), ['apiKeys']);
  for (const key of plain.apiKeys) assert.equal(Object.keys(key).join(' '), 'id nickname createdAt updatedAt');
  const full = await at.page('view=full');
  assert.deepEqual(Object.keys(full), ['apiKeys']);
  for (const key of full.apiKeys)
    assert.equal(
      Object.keys(key).join(' '),
      'id nickname createdAt updatedAt scopes expiresAt disabledAt disabledReason leakedAt environment hint publicKey trust lastUsedAt',
    );
});

test('each page of 10,000 keys takes few reads and has at most 100 keys', async () => {
  await using at = await fixture((now) =>
    Array.from({ length: 10_000 }, (_, n) => ({
      id: n + 1,
      nickname: `Key ${n}`,
      createdAt: now - (n % 100),
      lastUsedAt: n % 3 === 0 ? null : now - (n % 50),
      expiresAt: n % 2 === 0 ? null : now + n,
    })),
  );
  const queries = ['search=key', 'search=9999', 'state=active', 'state=disabled', 'sort=-lastUsed', 'sort=nickname'];
  for (const query of queries) {
    using reads = countDatabaseReads();
    const { apiKeys } = await at.page(`view=full&usage=7d&${query}`);
    const names = reads.names().filter((name) => !name.includes('signing_key'));
    const ofPage = query.includes('lastUsed')
      ? ['select_listed_key_ids', ...Array<string>(10).fill('select_times_of_last_use'), 'select_listed_keys']
      : names.filter((name) => name.startsWith('page_api_keys_by_'));
    const ofRows = apiKeys.length === 0 ? [] : ['select_key_last_uses', 'select_days_of_keys'];
    assert.deepEqual([names, ofPage.length > 0], [[...ofPage, ...ofRows], true], query);
    assert.ok(apiKeys.length <= 100, query);
  }
  // Key 1, Key 10 to Key 19, Key 100 to Key 199, Key 1000 to Key 1999.
  for (const sort of ['lastUsed', '-expires', 'nickname']) {
    const seen = await allPages(at, `search=key%201&sort=${sort}`);
    assert.deepEqual([seen.length, new Set(seen).size], [1_111, 1_111], sort);
  }
});

const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString('base64url'));

test('unknown values, and cursors of another order or with other texts, are rejected', async () => {
  await using at = await fixture(fewKeys);
  const bad = [
    'sort=',
    'sort=id',
    'sort=--created',
    'sort=created&sort=nickname',
    'state=',
    'state=Active',
    'usage=7d',
  ];
  bad.push(
    'usage=30d&view=full',
    'search=',
    'search=%00',
    'search=a%0A',
    `search=${'a'.repeat(257)}`,
    'view=full&usage=',
  );
  const { nextCursor } = await at.page('sort=nickname&limit=1');
  bad.push(`sort=-nickname&cursor=${nextCursor}`, `cursor=${nextCursor}`, `sort=created&cursor=${nextCursor}`);
  for (const text of ['nickname 0 a', 'nickname 1 ', 'nickname 1', 'nickname 1 a\u0000', 'nickname 9007199254740993 a'])
    bad.push(`sort=nickname&cursor=${encoded(text)}`);
  for (const text of ['expires 1 a', 'expires 1 1.5', 'expires 1 -2', 'expires 1 9007199254740993', 'expires 1 01'])
    bad.push(`sort=expires&cursor=${encoded(text)}`);
  for (const query of bad) assertProblem(fromFetch(await at.call(query)), 'invalid_request', query);
});
