/** What a key may be given beside its nickname: scopes and an end. */
import assert from 'node:assert/strict';
import type { ErrorCode, ListedKeyFull } from '@keyreeve/contract';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `scope:${index}`);

const badScopes: Readonly<Record<string, readonly [scopes: unknown, code: ErrorCode, pointer?: string]>> = {
  'not a list': ['orders:read', 'invalid_request', '/scopes'],
  null: [null, 'invalid_request', '/scopes'],
  'a number': [[1], 'invalid_request', '/scopes/0'],
  'an empty one': [['a', ''], 'invalid_request', '/scopes/1'],
  'a space': [['a b'], 'invalid_request', '/scopes/0'],
  'a quote': [['a"b'], 'invalid_request', '/scopes/0'],
  'a backslash': [['a\\b'], 'invalid_request', '/scopes/0'],
  'a line break': [['a\r\nX-Keyreeve-Account: b'], 'invalid_request', '/scopes/0'],
  'a letter outside ASCII': [['é'], 'invalid_request', '/scopes/0'],
  'sixty-five characters': [['x'.repeat(65)], 'invalid_request', '/scopes/0'],
  'one twice': [['a', 'b', 'a'], 'invalid_request', '/scopes'],
  'thirty-three': [many(33), 'invalid_request', '/scopes'],
  'Keyreeve’s own': [['keyreeve:verify'], 'reserved_scope'],
  'one that Keyreeve may have some day': [['a', 'keyreeve:admin'], 'reserved_scope'],
};

/** The clock stands at 2026-11-21T09:30:00Z. */
const badEnds: Readonly<Record<string, unknown>> = {
  'a number': 1_900_000_000,
  'a date': '2027-01-31',
  'no zone': '2027-01-31T00:00:00',
  'a space for the T': '2027-01-31 00:00:00Z',
  'a day that isn’t': '2027-02-30T00:00:00Z',
  'an hour that isn’t': '2027-01-31T24:00:00Z',
  'a leap second, which no clock here has': '2026-12-31T23:59:60Z',
  words: 'tomorrow',
  nothing: '',
  'too long': `2027-01-31T00:00:00.${'0'.repeat(20)}Z`,
  'the past': '2026-11-21T09:29:59.999Z',
  now: '2026-11-21T09:30:00.000Z',
  'now, in another zone': '2026-11-21T11:30:00+02:00',
};

const goodEnds: readonly (readonly [sent: string | null, kept: string | null])[] = [
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
  const list = async () => {
    const { json } = await app.call('GET', '/auth/api-keys?view=full', { headers });
    return (json as { apiKeys: ListedKeyFull[] }).apiKeys;
  };
  return { create, list, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test(
  'a key has no scope that is malformed, repeated, one too many or an operator’s to grant',
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

test('a key keeps its scopes in their order, as many and as long as are allowed', async () => {
  await using app = await fixture();
  const scopes = ['z', 'a', '!#[]~', 'Keyreeve', 'x'.repeat(64), ...many(27)];
  assert.equal((await app.create({ nickname: 'a', scopes })).status, 201);
  assert.equal((await app.create({ nickname: 'b', scopes: [] })).status, 201);
  const kept = Object.fromEntries((await app.list()).map((key) => [key.nickname, key.scopes]));
  assert.deepEqual(kept, { a: scopes, b: [] });
});

test('a key can’t end in the past, or at a time that is none', { tags: ['asvs:1.4.2', 'asvs:2.2.3'] }, async () => {
  await using app = await fixture();
  for (const [what, expiresAt] of Object.entries(badEnds)) {
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

test('a key’s end is an instant, whatever the zone it was written in', async () => {
  await using app = await fixture();
  for (const [index, [expiresAt]] of goodEnds.entries()) {
    assert.equal((await app.create({ nickname: `key ${index}`, expiresAt })).status, 201, String(expiresAt));
  }
  const kept = (await app.list()).toSorted((a, b) => a.nickname.localeCompare(b.nickname));
  assert.deepEqual(
    kept.map(({ expiresAt }) => expiresAt),
    goodEnds.map(([, end]) => end),
  );
});
