/** An API key as a Basic credential of `/auth/forward`, for docker, Maven, pip and git: KEYREEVE_FORWARD_BASIC. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { CreatedKey } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromWire } from '../../../../test-kit/assert-problem.ts';
import { newSecretFor } from '../../../../test-kit/client-credentials.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { bearer, goodPassword, newApp, operator } from '../../../../test-kit/new-app.ts';
import { ask, head } from '../../../../test-kit/raw-http.ts';

async function fixture(environment: Readonly<Record<string, string>> = { KEYREEVE_FORWARD_BASIC: 'on' }) {
  const app = await newApp({ environment });
  const user = await app.signIn();
  const owner = bearer(user.accessToken);
  const create = async (json: object): Promise<CreatedKey> => {
    const created = await app.call('POST', '/auth/api-keys', { headers: owner, json });
    assert.equal(created.status, 201, created.text);
    return created.json as CreatedKey;
  };
  const { id, key } = await create({ nickname: 'registry', scopes: ['pull'] });
  const forward = (lines: readonly string[], query = '') =>
    ask(app.url, head(`GET /auth/forward${query} HTTP/1.1`, 'Host: a', ...lines));
  const dispose = { [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  return { app, ...user, owner, create, id, key, forward, ...dispose };
}

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');
const basic = (text: string | Uint8Array): string => `Authorization: Basic ${base64(text)}`;

test('a key is accepted as password with any user name, and as user name with an empty password', async () => {
  await using at = await fixture();
  const { key } = at;
  const accepted = {
    'a user name': basic(`ada:${key}`),
    'no user name': basic(`:${key}`),
    'the id of the key': basic(`${at.id}:${key}`),
    'an email address': basic(`${at.account.email}:${key}`),
    'a user name in UTF-8': basic(`adaé:${key}`),
    'a user name in Latin-1': basic(Buffer.from(`ad\xe9:${key}`, 'latin1')),
    'a user name with blanks': basic(`ada lovelace:${key}`),
    'another key as user name': basic(`${(await at.create({ nickname: 'other' })).key}:${key}`),
    'the key as user name': basic(`${key}:`),
    'the scheme in another case': basic(`ada:${key}`).replace('Basic', 'bASIC '),
  };
  for (const [what, line] of Object.entries(accepted)) {
    const answer = await at.forward([line], '?scope=pull');
    assert.equal(answer.status, 200, what);
    assert.deepEqual(answer.headers.get('x-keyreeve-key-id'), [String(at.id)], what);
    assert.deepEqual(answer.headers.get('x-keyreeve-nickname'), ['registry'], what);
  }
  const shortLived = await newSecretFor(at.app, at.id, key);
  assert.equal((await at.forward([basic(`ada:${shortLived}`)])).status, 200, 'a short-lived secret');
  const text = 'older:key/of+another=system';
  const sha256 = createHash('sha256').update(text).digest('hex');
  await at.app.service.services.apiKeys.createWithHash(operator, at.account.id, { nickname: 'older' }, sha256);
  assert.equal((await at.forward([basic(`ada:${text}`)])).status, 200, 'an imported key with a colon');
});

test('every other form is rejected, with both challenges', async () => {
  await using at = await fixture();
  const { key, accessToken } = at;
  const unaligned = base64(`a:${key}`);
  const rejected = {
    'the key alone': basic(key),
    'nothing but a colon': basic(':'),
    'a user name without password': basic('ada:'),
    'the key and a password': basic(`${key}:x`),
    'the key twice with two colons': basic(`${key}:${key}:`),
    'a blank after the key': basic(`ada:${key} `),
    'a line break after the key': basic(`ada:${key}\n`),
    'a control character in the user name': basic(`a\x07da:${key}`),
    'a comma after the key': basic(`ada:${key},`),
    'a character that is not ASCII': basic(`ada:${key}é`),
    'an access token as password': basic(`ada:${accessToken}`),
    'an access token as user name': basic(`${accessToken}:`),
    'email address and password': basic(`${at.account.email}:${goodPassword}`),
    'no base64': `Authorization: Basic ada:${key}`,
    base64url: basic(Buffer.from(`~~~?:${key}`))
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
    'no padding': `Authorization: Basic ${unaligned.replaceAll('=', '')}`,
    'padding bits that are not zero': `Authorization: Basic ${unaligned.replace(/.(?==)/, (c) => (c === 'A' ? 'B' : String.fromCharCode(c.charCodeAt(0) + 1)))}`,
    'text after the credential': `${basic(`ada:${key}`)} x`,
    'no credential': 'Authorization: Basic',
    'an unknown scheme': `Authorization: Token ${base64(`ada:${key}`)}`,
  };
  const both = (rest: string): string[] => [`Basic realm="keyreeve", charset="UTF-8", Bearer realm="keyreeve"${rest}`];
  for (const [what, line] of Object.entries(rejected)) {
    const answer = await at.forward([line]);
    assertProblem(fromWire(answer), 'invalid_credential', what);
    assert.deepEqual(answer.headers.get('www-authenticate'), both(', error="invalid_token"'), what);
  }
  const ambiguous = [
    [basic(`ada:${key}`), `X-API-Key: ${key}`],
    [basic(`ada:${key}`), `Authorization: Bearer ${key}`],
    [basic(`ada:${key}`), basic(`ada:${key}`)],
    [`${basic(`ada:${key}`)}, Bearer ${key}`],
  ];
  for (const lines of ambiguous) {
    const answer = await at.forward(lines);
    assertProblem(fromWire(answer), 'ambiguous_credentials');
    assert.deepEqual(answer.headers.get('www-authenticate'), both(', error="invalid_request"'));
  }
  const absent = await at.forward([]);
  assertProblem(fromWire(absent), 'missing_credential');
  assert.deepEqual(absent.headers.get('www-authenticate'), both(''));
  const unscoped = await at.forward([basic(`ada:${key}`)], '?scope=push');
  assertProblem(fromWire(unscoped), 'insufficient_scope');
  assert.deepEqual(unscoped.headers.get('www-authenticate'), [
    'Bearer realm="keyreeve", error="insufficient_scope", scope="push"',
  ]);
});

test('a Basic credential costs the reads of the key alone, and counts as no failed sign-in', async () => {
  await using at = await fixture();
  using reads = countDatabaseReads();
  for (let attempt = 0; attempt < 20; attempt++)
    assert.equal((await at.forward([basic(`${at.account.email}:wrong password ${attempt}`)])).status, 401);
  assert.equal(reads.count(), 0);
  assert.equal((await at.forward([basic(`ada:${at.key}`)])).status, 200);
  assert.equal(reads.count(), 1);
  const signIn = await at.app.call('POST', '/auth/token', {
    headers: { authorization: `Basic ${base64(`${at.account.email}:${goodPassword}`)}` },
  });
  assert.equal(signIn.status, 200);
});

test('after its deletion, a key is rejected as a Basic credential', async () => {
  await using at = await fixture();
  const line = basic(`ada:${at.key}`);
  assert.equal((await at.forward([line])).status, 200);
  assert.equal((await at.app.call('DELETE', `/auth/api-keys/${at.id}`, { headers: at.owner })).status, 200);
  assertProblem(fromWire(await at.forward([line])), 'invalid_credential');
});

test('by default, /auth/forward accepts no Basic credential and offers none', async () => {
  await using at = await fixture({});
  for (const text of [`ada:${at.key}`, `${at.key}:`]) {
    const answer = await at.forward([basic(text)]);
    assertProblem(fromWire(answer), 'invalid_credential');
    assert.deepEqual(answer.headers.get('www-authenticate'), ['Bearer realm="keyreeve", error="invalid_token"']);
  }
});
