/** The optional members of a creation: scopes, expiry, IP ranges and metadata. */
import assert from 'node:assert/strict';
import type { CreatedKey, ErrorCode, KeyDetails, ListedKeyFull } from '@keyreeve/contract';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `scope:${index}`);

const badScopes: Readonly<Record<string, readonly [scopes: unknown, code: ErrorCode, pointer?: string]>> = {
  'not a list': ['orders:read', 'invalid_request', '/scopes'],
  null: [null, 'invalid_request', '/scopes'],
  'a number': [[1], 'invalid_request', '/scopes/0'],
  'an empty scope': [['a', ''], 'invalid_request', '/scopes/1'],
  'a space': [['a b'], 'invalid_request', '/scopes/0'],
  'a quote': [['a"b'], 'invalid_request', '/scopes/0'],
  'a backslash': [['a\\b'], 'invalid_request', '/scopes/0'],
  'a line break': [['a\r\nX-Keyreeve-Account: b'], 'invalid_request', '/scopes/0'],
  'a letter outside ASCII': [['é'], 'invalid_request', '/scopes/0'],
  'sixty-five characters': [['x'.repeat(65)], 'invalid_request', '/scopes/0'],
  'a repeated scope': [['a', 'b', 'a'], 'invalid_request', '/scopes'],
  'thirty-three scopes': [many(33), 'invalid_request', '/scopes'],
  'a reserved scope': [['keyreeve:verify'], 'reserved_scope'],
  'an unknown reserved scope': [['a', 'keyreeve:admin'], 'reserved_scope'],
};

/** The time is 2026-11-21T09:30:00Z. */
const badExpiries: Readonly<Record<string, unknown>> = {
  'a number': 1_900_000_000,
  'a date': '2027-01-31',
  'no zone': '2027-01-31T00:00:00',
  'a space for the T': '2027-01-31 00:00:00Z',
  'a day that does not exist': '2027-02-30T00:00:00Z',
  'an hour that does not exist': '2027-01-31T24:00:00Z',
  'a leap second': '2026-12-31T23:59:60Z',
  words: 'tomorrow',
  empty: '',
  'too long': `2027-01-31T00:00:00.${'0'.repeat(20)}Z`,
  'the past': '2026-11-21T09:29:59.999Z',
  now: '2026-11-21T09:30:00.000Z',
  'now, in another zone': '2026-11-21T11:30:00+02:00',
};

const goodExpiries: readonly (readonly [sent: string | null, stored: string | null])[] = [
  [null, null],
  ['2026-11-21T09:30:00.001Z', '2026-11-21T09:30:00.001Z'],
  ['2027-01-31T00:00:00+02:00', '2027-01-30T22:00:00.000Z'],
  ['2027-01-31t00:00:00z', '2027-01-31T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z'],
];

async function fixture() {
  const app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const create = (options: object) => app.call('POST', '/auth/api-keys', { headers, json: options });
  const get = async (id: number) => (await app.call('GET', `/auth/api-keys/${id}`, { headers })).json as KeyDetails;
  const forward = async (key: string) => (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;
  const list = async () => {
    const { json } = await app.call('GET', '/auth/api-keys?view=full', { headers });
    return (json as { apiKeys: ListedKeyFull[] }).apiKeys;
  };
  return { create, forward, get, list, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test(
  'malformed, repeated, reserved and too many scopes are rejected',
  { tags: ['asvs:1.3.3', 'asvs:8.2.3'] },
  async () => {
    await using app = await fixture();
    for (const [what, [scopes, code, pointer]] of Object.entries(badScopes)) {
      const { errors } = assertProblem(fromFetch(await app.create({ nickname: 'a', scopes })), code, what);
      if (pointer !== undefined)
        assert.ok(
          errors?.some((error) => error.pointer === pointer),
          `${what} ${pointer}`,
        );
    }
    assert.deepEqual(await app.list(), []);
  },
);

test('up to 32 scopes of up to 64 characters are stored in their order', async () => {
  await using app = await fixture();
  const scopes = ['z', 'a', '!#[]~', 'Keyreeve', 'x'.repeat(64), ...many(27)];
  assert.equal((await app.create({ nickname: 'a', scopes })).status, 201);
  assert.equal((await app.create({ nickname: 'b', scopes: [] })).status, 201);
  const listed = Object.fromEntries((await app.list()).map((key) => [key.nickname, key.scopes]));
  assert.deepEqual(listed, { a: scopes, b: [] });
});

test('an expiry that is malformed or in the past is rejected', { tags: ['asvs:1.4.2', 'asvs:2.2.3'] }, async () => {
  await using app = await fixture();
  for (const [what, expiresAt] of Object.entries(badExpiries)) {
    const { errors } = assertProblem(
      fromFetch(await app.create({ nickname: 'a', expiresAt })),
      'invalid_request',
      what,
    );
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/expiresAt'],
      what,
    );
  }
  assert.deepEqual(await app.list(), []);
});

test('an expiry in any time zone is stored and returned in UTC', async () => {
  await using app = await fixture();
  for (const [index, [expiresAt]] of goodExpiries.entries()) {
    assert.equal((await app.create({ nickname: `key ${index}`, expiresAt })).status, 201, String(expiresAt));
  }
  const listed = (await app.list()).toSorted((a, b) => a.nickname.localeCompare(b.nickname));
  assert.deepEqual(
    listed.map(({ expiresAt }) => expiresAt),
    goodExpiries.map(([, stored]) => stored),
  );
});

test('a key created with IP ranges is never valid from an unknown client IP', { tags: ['asvs:8.2.1'] }, async () => {
  await using app = await fixture();
  const restricted = { nickname: 'a', addresses: ['203.0.113.0/24', '2001:DB8::7'], metadata: { customer: 'cus_1' } };
  const created = await app.create(restricted);
  assert.equal(created.status, 201, created.text);
  const { id, key, ...others } = created.json as CreatedKey;
  assert.deepEqual(Object.keys(others).toSorted(), ['createdAt', 'nickname', 'updatedAt']);
  assert.equal(await app.forward(key), 403);
  const { addresses, metadata } = await app.get(id);
  assert.deepEqual(
    { addresses, metadata },
    { addresses: ['203.0.113.0/24', '2001:db8::7/128'], metadata: { customer: 'cus_1' } },
  );
});

test('a creation with bad IP ranges or too much metadata creates nothing', { tags: ['asvs:2.2.1'] }, async () => {
  await using app = await fixture();
  const bad: Readonly<Record<string, object>> = {
    '/addresses': { addresses: [] },
    '/addresses/1': { addresses: ['203.0.113.7', '203.0.113.7/24'] },
    '/metadata': { metadata: { text: 'x'.repeat(1_024) } },
  };
  for (const [pointer, members] of Object.entries(bad)) {
    const rejected = fromFetch(await app.create({ nickname: 'a', ...members }));
    assert.deepEqual(
      assertProblem(rejected, 'invalid_request', pointer).errors?.map((error) => error.pointer),
      [pointer],
    );
  }
  assert.deepEqual(await app.list(), []);
});
