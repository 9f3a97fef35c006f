/** List and deletion of keys: ownership, order and credentials. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CreatedKey, ErrorCode, ListedKey } from '@keyreeve/contract';
import { apiKeyRoutes } from '../routes.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DomainError } from '../../../foundation/errors.ts';
import type { Call } from '../../../http/route.ts';
import { basic, bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

type Headers = Record<string, string>;

async function create(app: TestApp, headers: Headers, nickname: string): Promise<CreatedKey> {
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
  assert.equal(created.status, 201, created.text);
  return created.json as CreatedKey;
}

const list = async (app: TestApp, headers: Headers, query = ''): Promise<ListedKey[]> =>
  ((await app.call('GET', `/auth/api-keys${query}`, { headers })).json as { apiKeys: ListedKey[] }).apiKeys;

const toListed = ({ id, nickname, createdAt, updatedAt }: CreatedKey): ListedKey => ({
  id,
  nickname,
  createdAt,
  updatedAt,
});

const isAccepted = async (app: TestApp, key: string): Promise<boolean> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status === 200;

/** Texts that are numbers only for some parsers, or ids only after two decodings. */
const malformedIds: Readonly<Record<string, ErrorCode>> = {
  '0': 'key_not_found',
  '-1': 'key_not_found',
  '1.5': 'key_not_found',
  '1e3': 'key_not_found',
  '01': 'key_not_found',
  '+1': 'key_not_found',
  '0x1': 'key_not_found',
  '1n': 'key_not_found',
  NaN: 'key_not_found',
  abc: 'key_not_found',
  '%2525': 'key_not_found',
  '%201': 'key_not_found',
  '1%00': 'key_not_found',
  '1%0A': 'key_not_found',
  '1%2F2': 'key_not_found',
  '%EF%BC%91': 'key_not_found',
  '1,2': 'key_not_found',
  '9007199254740991': 'key_not_found',
  '9007199254740992': 'key_not_found',
  '9007199254740993': 'key_not_found',
  [`1${'0'.repeat(400)}`]: 'key_not_found',
  [`x${'y'.repeat(2_000)}`]: 'key_not_found',
  '': 'not_found',
  '%': 'not_found',
  '%E0%A4%A': 'not_found',
  '1/2': 'not_found',
  '1/': 'not_found',
};

testOnBoth('the list has the account’s own keys, ordered by creation and id', { tags: ['asvs:8.2.2'] }, async () => {
  await using app = await newApp();
  const [one, other] = [await app.signIn(), await app.signIn()];
  const headers = bearer(one.accessToken);
  const expected: ListedKey[] = [];
  // Two keys share each time, so their order depends on the random ids.
  for (const second of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const pair = [await create(app, headers, `${second} 1`), await create(app, headers, `${second} 2`)];
    expected.push(...pair.map(toListed).toSorted((a, b) => a.id - b.id));
    app.clock.advance({ seconds: 1 });
  }
  await create(app, bearer(other.accessToken), 'not yours');
  assert.deepEqual(await list(app, headers), expected);
});

test('an account without keys has an empty list', async () => {
  await using app = await newApp();
  const listed = await app.call('GET', '/auth/api-keys', { headers: bearer((await app.signIn()).accessToken) });
  assert.deepEqual([listed.status, listed.json], [200, { apiKeys: [] }]);
});

test('only view=full adds scopes, expiry, state, hint and last use', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const json = { nickname: 'a', scopes: ['orders:read'], expiresAt: '2027-01-31T00:00:00Z' };
  const created = (await app.call('POST', '/auth/api-keys', { headers, json })).json as CreatedKey;
  const plain = toListed(created);
  const full = {
    ...plain,
    scopes: ['orders:read'],
    expiresAt: '2027-01-31T00:00:00.000Z',
    disabledAt: null,
    disabledReason: null,
    leakedAt: null,
    environment: null,
    hint: `krv_…${created.key.slice(-4)}`,
    publicKey: null,
    trust: null,
    lastUsedAt: null,
  };
  assert.deepEqual(await list(app, headers), [plain]);
  assert.deepEqual(await list(app, headers, '?other=x'), [plain]);
  assert.deepEqual(await list(app, headers, '?view=full'), [full]);
  for (const query of [
    '?view=',
    '?view=Full',
    '?view=brief',
    '?view=full&view=full',
    '?view=full&vie%77=brief',
    '?a=1&a=2',
  ]) {
    const rejected = await app.call('GET', `/auth/api-keys${query}`, { headers });
    assertProblem(fromFetch(rejected), 'invalid_request', query);
  }
});

test(
  'deletion of another account’s key returns 401 without an error to renew the token, of an unknown key 404',
  { tags: ['asvs:8.2.2', 'asvs:8.3.1'] },
  async () => {
    await using app = await newApp();
    const [owner, other] = [await app.signIn(), await app.signIn()];
    const { id, key } = await create(app, bearer(owner.accessToken), 'mine');
    const path = `/auth/api-keys/${id}`;

    const foreign = await app.call('DELETE', path, { headers: bearer(other.accessToken) });
    assertProblem(fromFetch(foreign), 'not_key_owner');
    assert.equal(foreign.headers.get('www-authenticate'), 'Bearer realm="keyreeve"');
    assert.ok(!foreign.text.includes('mine') && !foreign.text.includes(owner.account.id));
    assert.ok(await isAccepted(app, key));

    const confirmed = await app.call('DELETE', path, { headers: bearer(owner.accessToken) });
    assert.deepEqual([confirmed.status, confirmed.json], [200, { message: `API key ${id} has been deleted.` }]);
    assert.ok(!(await isAccepted(app, key)));
    for (const { accessToken } of [owner, other]) {
      const deleted = await app.call('DELETE', path, { headers: bearer(accessToken) });
      assertProblem(fromFetch(deleted), 'key_not_found');
    }
  },
);

test('a malformed id deletes no key', { tags: ['asvs:1.4.2'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const { id, key } = await create(app, headers, 'a');
  const [first = '', ...rest] = String(id);
  const twice = `%25${first.charCodeAt(0).toString(16)}${rest.join('')}`;
  const disguised = [`0${id}`, `+${id}`, `${id}.0`, `${id}%20`, `%20${id}`, `${id}e0`, twice];
  const table = { ...malformedIds, ...Object.fromEntries(disguised.map((text) => [text, 'key_not_found' as const])) };
  for (const [text, code] of Object.entries(table)) {
    const rejected = await app.call('DELETE', `/auth/api-keys/${text}`, { headers });
    assertProblem(fromFetch(rejected), code, text.slice(0, 40));
  }
  assert.ok(await isAccepted(app, key));
  // A path is decoded once.
  const once = `%${first.charCodeAt(0).toString(16)}${rest.join('')}`;
  assert.equal((await app.call('DELETE', `/auth/api-keys/${once}`, { headers })).status, 200);
});

test('the credential is checked before the rest of the request', async () => {
  await using app = await newApp();
  const { id } = await create(app, bearer((await app.signIn()).accessToken), 'a');
  const calls = [
    ['DELETE', `/auth/api-keys/${id}`],
    ['DELETE', '/auth/api-keys/1'],
    ['DELETE', '/auth/api-keys/abc'],
    ['GET', '/auth/api-keys?view=bad'],
    ['POST', '/auth/api-keys'],
  ] as const;
  for (const [method, path] of calls) {
    const body = method === 'POST' ? { body: 'x'.repeat(100_000), headers: { 'content-type': 'text/plain' } } : {};
    const rejected = await app.call(method, path, body);
    assertProblem(fromFetch(rejected), 'missing_access_token', `${method} ${path}`);
    assert.equal(rejected.headers.get('www-authenticate'), 'Bearer realm="keyreeve"');
  }
});

test('only a valid access token as Bearer manages keys', { tags: ['asvs:7.2.2', 'asvs:8.3.1'] }, async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const { id, key } = await create(app, bearer(accessToken), 'a');
  const credentials: Readonly<Record<string, readonly [headers: Headers, code: ErrorCode]>> = {
    'an API key': [bearer(key), 'invalid_access_token'],
    'an API key as X-API-Key': [{ 'x-api-key': key }, 'invalid_access_token'],
    'a service’s key': [bearer(await app.serviceKey()), 'invalid_access_token'],
    'a refresh token': [bearer(refreshToken), 'invalid_access_token'],
    'email and password': [basic(account.email, goodPassword), 'invalid_access_token'],
    'an access token as X-API-Key': [{ 'x-api-key': accessToken }, 'invalid_access_token'],
    'an access token under another scheme': [{ authorization: `Token ${accessToken}` }, 'invalid_access_token'],
    'an access token without a scheme': [{ authorization: accessToken }, 'invalid_access_token'],
    'an altered access token': [bearer(`${accessToken}A`), 'invalid_access_token'],
    'a scheme alone': [{ authorization: 'Bearer' }, 'invalid_access_token'],
    'an access token beside an API key': [{ ...bearer(accessToken), 'x-api-key': key }, 'ambiguous_credentials'],
    'a cookie': [{ cookie: `accessToken=${accessToken}` }, 'missing_access_token'],
  };
  for (const [what, [headers, code]] of Object.entries(credentials)) {
    const answers = [
      await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'b' } }),
      await app.call('GET', '/auth/api-keys', { headers }),
      await app.call('DELETE', `/auth/api-keys/${id}`, { headers }),
      await app.call('GET', `/auth/api-keys?access_token=${accessToken}`, { headers }),
    ];
    for (const answer of answers) assertProblem(fromFetch(answer), code, what);
  }
  assert.deepEqual(
    (await list(app, bearer(accessToken))).map(({ nickname }) => nickname),
    ['a'],
  );
});

test('only the response to the creation contains the key', { tags: ['asvs:10.1.1', 'asvs:15.3.1'] }, async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const headers = bearer(accessToken);
  const { id, key } = await create(app, headers, 'a');
  assert.ok(await isAccepted(app, key));
  await app.service.services.uses.flush();
  const random = key.slice('krv_'.length);
  const kept = await create(app, headers, 'kept');
  const answers = [
    await app.call('GET', '/auth/api-keys', { headers }),
    await app.call('GET', '/auth/api-keys?view=full', { headers }),
    await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } }),
    await app.call('GET', '/auth/forward', { headers: bearer(`${key}x`) }),
    await app.call('DELETE', `/auth/api-keys/${id}`, { headers }),
  ];
  for (const { text, headers: answered } of answers)
    assert.ok(!(text + JSON.stringify([...answered])).includes(random));

  assert.ok(app.logLines.length > 0);
  assert.ok(!app.logLines.join('').includes(random));
  const audit = (await listAuditEvents(app.db)).filter(({ target }) => target === String(id));
  assert.deepEqual(
    audit.map(({ action, actor, accountId, details }) => ({ action, actor, accountId, details })),
    [
      {
        action: 'api_key.created',
        actor: `account:${account.id}`,
        accountId: account.id,
        details: '{"nickname":"a","scopes":[]}',
      },
      {
        action: 'api_key.deleted',
        actor: `account:${account.id}`,
        accountId: account.id,
        details: '{"nickname":"a"}',
      },
    ],
  );
  // Neither as text nor as an unkeyed hash, which a thief of the file could compare with leaked keys.
  const traces = [
    random,
    kept.key.slice('krv_'.length),
    ...[key, random, kept.key].map((text) => createHash('sha256').update(text).digest()),
  ];
  const stored = app.place.kind === 'sqlite' ? filesOf(app.place.url) : await tablesOf(app.db);
  assert.ok(stored.length >= 2);
  for (const bytes of stored) {
    for (const trace of traces) {
      assert.ok(!bytes.includes(trace));
      assert.ok(!bytes.includes(Buffer.from(trace).toString('hex')));
    }
  }
});

/** The files of the database. */
function filesOf(url: string): Buffer[] {
  const folder = dirname(url.slice('sqlite:'.length));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
}

/** Every row as text, bytes as hex. */
async function tablesOf(db: Db): Promise<Buffer[]> {
  const rows = await Promise.all(
    ['api_keys', 'audit_events', 'sessions', 'accounts', 'rate_limit_buckets'].map(async (table) =>
      db.all(sql<{ text: string }>(`dump_${table}`, `select t::text as text from ${table} t`)),
    ),
  );
  return rows.flat().map(({ text }) => Buffer.from(text));
}

test('deletion of an account deletes its keys and no others', async () => {
  await using app = await newApp();
  const [one, other] = [await app.signIn(), await app.signIn()];
  const deleted = await create(app, bearer(one.accessToken), 'a');
  const kept = await create(app, bearer(other.accessToken), 'a');
  await app.service.services.accounts.delete(operator, one.account.id);
  assert.deepEqual([await isAccepted(app, deleted.key), await isAccepted(app, kept.key)], [false, true]);
  const again = await app.call('DELETE', `/auth/api-keys/${deleted.id}`, { headers: bearer(other.accessToken) });
  assertProblem(fromFetch(again), 'key_not_found');
});

testOnBoth('a creation for an account that was deleted after the check of its token is rejected', async () => {
  await using app = await newApp();
  const { account } = await app.signIn();
  await app.service.services.accounts.delete(operator, account.id);
  // Calls the route after the check of the token, in which the account still existed.
  const { apiKeys, keyChanges } = app.service.services;
  const route = apiKeyRoutes(apiKeys, keyChanges, async () => undefined).find(
    ({ contract }) => contract.id === 'createKey',
  );
  const principal = { kind: 'account', accountId: account.id, sessionId: 'ses_x' };
  const call = { principal, body: { nickname: 'a' } } as unknown as Call;
  await assert.rejects(
    async () => route?.handle(call),
    (error) => error instanceof DomainError && error.code === 'invalid_access_token',
  );
});
