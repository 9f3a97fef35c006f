/** The credential of `/auth/forward`: exactly one, in an accepted header, well formed and of the right kind. */
import assert from 'node:assert/strict';
import { consoleSessionPrefix, oneTimeCodePrefix, type CreatedKey, type ErrorCode } from '@keyreeve/contract';
import { checksum } from '../../../foundation/crypto/secret.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch, fromWire } from '../../../../test-kit/assert-problem.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { ask, head } from '../../../../test-kit/raw-http.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

async function newKey(app: TestApp, nickname = 'worker'): Promise<CreatedKey & { accessToken: string }> {
  const { accessToken } = await app.signIn();
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });
  return { ...(created.json as CreatedKey), accessToken };
}

const forward = (app: TestApp, ...lines: string[]) =>
  ask(app.url, head('GET /auth/forward HTTP/1.1', 'Host: a', ...lines));

const withChecksum = (unchecked: string): string => unchecked + checksum(unchecked);

test('a key is accepted in Authorization or X-API-Key, in any case of header and scheme', async () => {
  await using app = await newApp();
  const { key } = await newKey(app);
  const good = [
    `Authorization: Bearer ${key}`,
    `authorization: bearer ${key}`,
    `AUTHORIZATION: BEARER   ${key}   `,
    `X-API-Key: ${key}`,
    `x-api-key:${key}`,
  ];
  for (const line of good) assert.equal((await forward(app, line)).status, 200, line);
});

test(
  'two credentials in one request are rejected, even when they are equal',
  { tags: ['asvs:2.2.3', 'asvs:15.3.7'] },
  async () => {
    await using app = await newApp();
    const { key, accessToken } = await newKey(app);
    const { key: other } = await newKey(app);
    const basic = `Authorization: Basic ${Buffer.from(`you@example.com:${key}`).toString('base64')}`;
    const table: readonly (readonly string[])[] = [
      [`Authorization: Bearer ${key}`, `Authorization: Bearer ${other}`],
      [`Authorization: Bearer ${key}`, `authorization: Bearer ${key}`],
      [`Authorization: Bearer ${key}`, 'Authorization: Bearer'],
      [`X-API-Key: ${key}`, `X-API-Key: ${other}`],
      [`X-API-Key: ${key}`, `x-api-key: ${key}`],
      [`Authorization: Bearer ${key}`, `X-API-Key: ${other}`],
      [`Authorization: Bearer ${key}`, `X-API-Key: ${key}`],
      [`Authorization: Bearer ${accessToken}`, `X-API-Key: ${key}`],
      [basic, `X-API-Key: ${key}`],
      [basic, `Authorization: Bearer ${key}`],
      [`Authorization: Bearer ${key}, Bearer ${other}`],
      [`Authorization: Bearer ${key},${other}`],
      [`Authorization: Bearer ${key},`],
      [`Authorization: Basic eDp5, Bearer ${key}`],
      [`X-API-Key: ${key},${key}`],
      [`X-API-Key: ${key}, `],
    ];
    for (const lines of table) {
      const what = lines.map((line) => line.slice(0, 30)).join(' + ');
      const rejected = await forward(app, ...lines);
      assertProblem(fromWire(rejected), 'ambiguous_credentials', what);
      const challenge = rejected.headers.get('www-authenticate');
      assert.deepEqual(challenge, ['Bearer realm="keyreeve", error="invalid_request"'], what);
    }
  },
);

test('an empty or blank field is no credential: it neither replaces nor contradicts another one', async () => {
  await using app = await newApp();
  const { key, accessToken } = await newKey(app);
  for (const blank of ['', ' ', ' \t  ']) {
    const accepted = [
      [`Authorization:${blank}`, `X-API-Key: ${key}`],
      [`X-API-Key: ${key}`, `authorization:${blank}`],
      [`Authorization: Bearer ${key}`, `X-API-Key:${blank}`],
      [`Authorization: Bearer ${key}`, `Authorization:${blank}`],
      [`Authorization:${blank}`, `Authorization: Bearer ${accessToken}`],
      [`X-API-Key:${blank}`, `X-API-Key: ${key}`],
      [`Authorization:${blank}`, `X-API-Key:${blank}`, `X-API-Key: ${key}`],
    ];
    for (const lines of accepted) assert.equal((await forward(app, ...lines)).status, 200, lines.join());
    const absent = await forward(app, `Authorization:${blank}`, `Authorization:${blank}`, `X-API-Key:${blank}`);
    assertProblem(fromWire(absent), 'missing_credential');
    const two = [`Authorization:${blank}`, `Authorization: Bearer ${key}`, `X-API-Key: ${key}`];
    assertProblem(fromWire(await forward(app, ...two)), 'ambiguous_credentials');
  }
  const list = ask(app.url, head('GET /auth/api-keys HTTP/1.1', 'Host: a', 'Authorization: '));
  assertProblem(fromWire(await list), 'missing_access_token');
});

test(
  'a credential in another place or with another scheme is not accepted',
  { tags: ['asvs:3.5.1', 'asvs:14.2.1'] },
  async () => {
    await using app = await newApp();
    const { key, accessToken } = await newKey(app);
    const none = { code: 'missing_credential', challenge: 'Bearer realm="keyreeve"' } as const;
    const invalid = {
      code: 'invalid_credential',
      challenge: 'Bearer realm="keyreeve", error="invalid_token"',
    } as const;
    const table: readonly (readonly [line: string, expected: { code: ErrorCode; challenge: string }])[] = [
      ['Accept: */*', none],
      [`Cookie: key=${key}; Authorization=Bearer ${key}`, none],
      [`Proxy-Authorization: Bearer ${key}`, none],
      [`X_API_Key: ${key}`, none],
      [`X-API-Keys: ${key}`, none],
      [`X-Authorization: Bearer ${key}`, none],
      ['Authorization:', none],
      ['Authorization: \t ', none],
      ['Authorization: Bearer', invalid],
      [`Authorization: ${key}`, invalid],
      [`Authorization: Bearer${key}`, invalid],
      [`Authorization: Bearer\t${key}`, invalid],
      [`Authorization: Token ${key}`, invalid],
      [`Authorization: Bearer ${key} ${key}`, invalid],
      [`Authorization: Bearer "${key}"`, invalid],
      [`Authorization: Basic ${Buffer.from(`x:${key}`).toString('base64')}`, invalid],
      [`Authorization: Basic ${Buffer.from(key).toString('base64')}`, invalid],
      ['X-API-Key:', none],
      ['X-API-Key:   ', none],
      ['X-API-Key: \xa0', invalid],
      [`X-API-Key: Bearer ${key}`, invalid],
      [`X-API-Key: ${accessToken}`, invalid],
      [`Authorization: Bearer ${'a'.repeat(4_096)}`, invalid],
      [`X-API-Key: ${'a'.repeat(4_097)}`, invalid],
    ];
    for (const [line, { code, challenge }] of table) {
      const rejected = await forward(app, line);
      assertProblem(fromWire(rejected), code, line.slice(0, 40));
      assert.deepEqual(rejected.headers.get('www-authenticate'), [challenge], line.slice(0, 40));
    }
    for (const query of [`?key=${key}`, `?api_key=${key}`, `?access_token=${accessToken}`, `?X-API-Key=${key}`]) {
      assertProblem(
        fromFetch(await app.call('GET', `/auth/forward${query}`)),
        'missing_credential',
        query.slice(0, 20),
      );
    }
    const inBody = await app.call('POST', '/auth/forward', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `access_token=${key}`,
    });
    assertProblem(fromFetch(inBody), 'missing_credential');
  },
);

test(
  'a malformed credential or one of the wrong kind is rejected without a database read',
  { tags: ['asvs:9.2.2'] },
  async () => {
    await using app = await newApp();
    const { key, accessToken } = await newKey(app);
    const { refreshToken } = await app.signIn();
    const body = key.slice('krv_'.length, -6);
    const swapped = key.replace(/.(?=.{10}$)/, (char) => (char === 'a' ? 'b' : 'a'));
    const table: Readonly<Record<string, string>> = {
      'shortened by one character': key.slice(0, -1),
      'only its prefix': 'krv_',
      'extended by one character': `${key}0`,
      'one character altered': swapped,
      'its checksum altered': key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'),
      'upper case': key.toUpperCase(),
      'without its prefix': key.slice('krv_'.length),
      'another prefix with a good checksum': withChecksum(`abc_${body}`),
      'another separator with a good checksum': withChecksum(`krv-${body}`),
      'a longer body with a good checksum': withChecksum(`krv_${body}0`),
      'a character outside base62 with a good checksum': withChecksum(`krv_${body.slice(1)}-`),
      'a refresh token': refreshToken,
      'the prefix of a refresh token with a good checksum': withChecksum(`krvr_${body}`),
      'a one-time code': withChecksum(`${oneTimeCodePrefix}_${body}`),
      'the prefix of a session cookie with a good checksum': withChecksum(`${consoleSessionPrefix}_${body}`),
      'an access token without its signature': accessToken.slice(0, accessToken.lastIndexOf('.') + 1),
      'an unsigned JWT': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.',
      SQL: "krv_'or'1'='1",
    };
    using reads = countDatabaseReads();
    for (const [what, credential] of Object.entries(table)) {
      for (const line of [`Authorization: Bearer ${credential}`, `X-API-Key: ${credential}`]) {
        assertProblem(fromWire(await forward(app, line)), 'invalid_credential', what);
      }
    }
    assert.equal(reads.count(), 0);
    // A valid key costs one read. An unknown one costs a second read, of previous secrets.
    assertProblem(
      fromWire(await forward(app, `X-API-Key: ${withChecksum(`krv_${body.split('').toReversed().join('')}`)}`)),
      'invalid_credential',
    );
    assert.equal(reads.count(), 2);
    assert.equal((await forward(app, `X-API-Key: ${key}`)).status, 200);
    assert.equal(reads.count(), 3);
  },
);

test('new keys have the configured prefix, and keys with an accepted earlier prefix stay valid', async () => {
  await using app = await newApp();
  const old = await newKey(app);
  // Two more instances on the same database, with other prefixes.
  const { place } = app;
  const environment = { KEYREEVE_KEY_PREFIX: 'acme_live' };
  await using renamed = await newApp({
    place,
    environment: { ...environment, KEYREEVE_KEY_PREFIXES_ACCEPTED: 'krv, acme' },
  });
  await using withoutEarlier = await newApp({ place, environment });
  const { id: accountId } = await app.createAccount('brand@example.com');
  const { secret } = await renamed.service.services.apiKeys.create(operator, accountId, { nickname: 'a' });
  const fresh = secret.reveal();
  assert.match(fresh, /^acme_live_[0-9A-Za-z]{49}$/);

  const statuses = async (key: string): Promise<number[]> =>
    Promise.all([app, renamed, withoutEarlier].map(async (at) => (await forward(at, `X-API-Key: ${key}`)).status));
  assert.deepEqual(await statuses(old.key), [200, 200, 401]);
  assert.deepEqual(await statuses(fresh), [401, 200, 200]);
  using reads = countDatabaseReads();
  assert.equal((await forward(withoutEarlier, `X-API-Key: ${old.key}`)).status, 401);
  assert.equal(reads.count(), 0, 'another prefix is rejected without a read');
});

testOnBoth('after a deletion on one instance another instance rejects the key', async () => {
  await using app = await newApp();
  await using second = await newApp({ place: app.place });
  const { account, accessToken } = await app.signIn();
  for (let round = 0; round < 20; round++) {
    const { id, secret } = await app.service.services.apiKeys.create(operator, account.id, { nickname: 'worker' });
    assert.equal((await forward(second, `X-API-Key: ${secret.reveal()}`)).status, 200);
    const deleted = await app.call('DELETE', `/auth/api-keys/${id}`, { headers: bearer(accessToken) });
    assert.equal(deleted.status, 200);
    assert.equal((await forward(second, `X-API-Key: ${secret.reveal()}`)).status, 401, `round ${round}`);
  }
});
