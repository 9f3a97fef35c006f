/** Short-lived secrets for the id and the secret of an API key (RFC 6749 section 4.4). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import { clientCredentialsGrant, limits, type CreatedKey, type ExchangedSecret } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { newSecretFor, requestAs, requestToken, type ClientRequest } from '../../../../test-kit/client-credentials.ts';
import { countDatabaseReads } from '../../../../test-kit/database-reads.ts';
import { basic, bearer, newApp, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { newKeyPair, newPublicKeyKey } from '../../../../test-kit/public-key-client.ts';
import { hashOf } from '../../../../test-kit/rows.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';
import { checksum } from '../../../foundation/crypto/secret.ts';
import { countClientExchangeTx } from '../../rate-limits/exchange-limits.ts';
import { insertBoundedShortLivedTx } from '../store.ts';

async function fixture(creation: object = {}, environment: Readonly<Record<string, string>> = {}) {
  const app = await newApp({ environment });
  const user = await app.signIn();
  const owner = bearer(user.accessToken);
  const create = async (more: object = {}): Promise<CreatedKey> => {
    const created = await app.call('POST', '/auth/api-keys', { headers: owner, json: { nickname: 'other', ...more } });
    assert.equal(created.status, 201, created.text);
    return created.json as CreatedKey;
  };
  const { id, key } = await create({ nickname: 'ci', ...creation });
  const call = async (method: string, path = '', json?: object): Promise<unknown> => {
    const answer = await app.call(method, `/auth/api-keys/${id}${path}`, { headers: owner, ...(json ? { json } : {}) });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const statusOf = async (secret: string): Promise<number> =>
    (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status;
  const token = (secret = key): Promise<string> => newSecretFor(app, id, secret);
  const dispose = { [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  return { app, ...user, owner, id, key, create, call, statusOf, token, ...dispose };
}

const errorOf = ({ json }: Answered): string => (json as { error: string }).error;

function assertClientRejected(answer: Answered, what = 'the client'): void {
  assert.equal(answer.status, 401, what);
  assert.deepEqual(
    answer.json,
    {
      error: 'invalid_client',
      error_description:
        'Send the id and the secret of an API key as client id and client secret. The key must be valid for this client, without a public key, a trust, and scopes that begin with `keyreeve:`. The response is the same for each cause.',
    },
    what,
  );
  assert.equal(answer.headers.get('www-authenticate'), 'Basic realm="keyreeve", charset="UTF-8"', what);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', what);
}

test('a client gets a short-lived secret for the id and the secret of its key', async () => {
  await using at = await fixture({ scopes: ['orders:read'] });
  const answer = await requestAs(at.app, at.id, at.key);
  assert.equal(answer.status, 200, answer.text);
  const { access_token: secret = '', ...rest } = answer.json as Partial<ExchangedSecret>;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 600 });
  assert.match(secret, /^krvt_[0-9A-Za-z]{49}$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('pragma'), 'no-cache');
  const accepted = await at.app.call('GET', '/auth/forward?scope=orders:read', { headers: bearer(secret) });
  assert.equal(accepted.status, 200);
  assert.equal(accepted.headers.get('x-keyreeve-key-id'), String(at.id));
  const log = at.app.logLines.join('');
  assert.ok(!log.includes(secret) && !log.includes(at.key), 'the log has no secret');
  at.app.clock.advance({ seconds: 600 });
  assert.equal(await at.statusOf(secret), 401);
  assert.equal(await at.statusOf(at.key), 200);
});

/** Each byte as an escape. */
const escaped = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

test('credentials are accepted as Basic, encoded or not, or in the body, and never twice', async () => {
  await using at = await fixture();
  const [client_id, client_secret] = [String(at.id), at.key] as const;
  const accepted: Record<string, ClientRequest> = {
    'Basic without encoding': { headers: basic(client_id, client_secret) },
    'form-encoded Basic': { headers: basic(escaped(client_id), escaped(client_secret)) },
    'Basic with the same id in the body': { headers: basic(client_id, client_secret), parameters: { client_id } },
    'the body': { parameters: { client_id, client_secret } },
    'an empty scope': { parameters: { client_id, client_secret, scope: '' } },
  };
  for (const [form, request] of Object.entries(accepted))
    assert.equal((await requestToken(at.app, request)).status, 200, form);
  const rejected: Record<string, readonly [error: string, ClientRequest]> = {
    'the secret in both': [
      'invalid_request',
      { headers: basic(client_id, client_secret), parameters: { client_secret } },
    ],
    'two ids': ['invalid_request', { headers: basic(client_id, client_secret), parameters: { client_id: '1' } }],
    Bearer: ['invalid_request', { headers: bearer(client_secret), parameters: { client_id } }],
    'X-API-Key': ['invalid_request', { headers: { 'x-api-key': client_secret }, parameters: { client_id } }],
    'Basic and X-API-Key': [
      'invalid_request',
      { headers: { ...basic(client_id, client_secret), 'x-api-key': client_secret } },
    ],
    'a scope': ['invalid_scope', { parameters: { client_id, client_secret, scope: 'orders:read' } }],
  };
  for (const [what, [error, request]] of Object.entries(rejected)) {
    const answer = await requestToken(at.app, request);
    assert.deepEqual([answer.status, errorOf(answer)], [400, error], what);
  }
});

test('a client that is not authenticated gets the same response for each cause', async () => {
  await using at = await fixture({ addresses: ['127.0.0.0/8'] });
  const { app, id, key } = at;
  const other = await at.create();
  const shortLived = await at.token();
  const pair = newKeyPair();
  const publicId = await newPublicKeyKey(app, at.accessToken, pair);
  const administrator = await app.createAccount();
  const service = await app.service.services.apiKeys.create(operator, administrator.id, {
    nickname: 'service',
    scopes: ['orders:read', 'keyreeve:verify'],
  });
  const management = await newBackend(app);
  const body = key.slice('krv_'.length, -6).split('').toReversed().join('');
  const rejected: Record<string, ClientRequest> = {
    'no credential': {},
    'no secret': { parameters: { client_id: String(id) } },
    'no id': { parameters: { client_secret: key } },
    'an unknown secret': { headers: basic(String(id), `krv_${body}${checksum(`krv_${body}`)}`) },
    'a malformed secret': { headers: basic(String(id), key.slice(0, -1)) },
    'an empty secret': { headers: basic(String(id), '') },
    'the id of another key': { headers: basic(String(other.id), key) },
    'an id in another form': { headers: basic(`0${id}`, key) },
    'the nickname instead of the id': { headers: basic('ci', key) },
    'key and id exchanged': { headers: basic(key, String(id)) },
    'an access token': { headers: basic(String(id), at.accessToken) },
    'a short-lived secret': { headers: basic(String(id), shortLived) },
    'a key with a public key': { headers: basic(String(publicId), key) },
    'a service key': { headers: basic(String(service.id), service.secret.reveal()) },
    'a management key': { headers: basic(String(management.keyId), management.key) },
    'email address and password': { headers: basic(at.account.email, 'wombat orbit velvet 42') },
    'Basic that is not base64': { headers: { authorization: 'Basic !' } },
    'another scheme': { headers: { authorization: `Digest ${key}` } },
  };
  for (const [what, request] of Object.entries(rejected)) assertClientRejected(await requestToken(app, request), what);
  const expectRejection = async (what: string): Promise<void> =>
    assertClientRejected(await requestAs(app, id, key), what);
  await at.call('PATCH', '', { addresses: ['203.0.113.0/24'] });
  await expectRejection('another client IP');
  await at.call('PATCH', '', { addresses: null, disabled: true });
  await expectRejection('a disabled key');
  await at.call('PATCH', '', { disabled: false, expiresAt: new Date(app.clock.now() + 5_500).toISOString() });
  const { json } = await requestAs(app, id, key);
  assert.equal((json as ExchangedSecret).expires_in, 5, 'the key expires earlier');
  app.clock.advance({ seconds: 5 });
  await expectRejection('less than a second is left');
  app.clock.advance({ seconds: 1 });
  await expectRejection('an expired key');
  await at.call('PATCH', '', { expiresAt: null });
  await at.token();
  await app.service.services.accounts.disable(operator, at.account.id);
  await expectRejection('a disabled account');
});

test('the log has the cause of a rejected client', async () => {
  await using at = await fixture();
  const other = await at.create();
  await requestAs(at.app, other.id, at.key);
  const line = at.app.logLines.find((one) => one.includes('client_rejected')) ?? '{}';
  const { event, reason, keyId } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual({ event, reason, keyId }, { event: 'client_rejected', reason: 'other_key', keyId: other.id });
});

testOnBoth('a wrong secret costs the reads of a verification, and no write', async () => {
  await using at = await fixture();
  const body = at.key.slice('krv_'.length, -6).split('').toReversed().join('');
  const unknown = `krv_${body}${checksum(`krv_${body}`)}`;
  using reads = countDatabaseReads();
  assertClientRejected(await requestAs(at.app, at.id, `${at.key}0`));
  assert.equal(reads.count(), 0, 'a malformed secret');
  assertClientRejected(await requestAs(at.app, at.id, unknown));
  // Of current and of previous secrets.
  assert.deepEqual(reads.sharedLengths(), [1, 1]);
  assert.deepEqual(reads.names(), []);
  const answers = await Promise.all(Array.from({ length: 16 }, () => requestAs(at.app, at.id, unknown)));
  for (const answer of answers) assertClientRejected(answer);
  assert.deepEqual(reads.names(), []);
});

testOnBoth('a short-lived secret ends with the secret that issued it', async () => {
  await using at = await fixture();
  const ofFirst = await at.token();
  const rotated = (await at.call('POST', '/rotate', { overlapSeconds: 60 })) as { key: string };
  const ofPrevious = await at.token();
  const ofSecond = await at.token(rotated.key);
  const { json } = await requestAs(at.app, at.id, at.key);
  assert.equal((json as ExchangedSecret).expires_in, 60, 'the end of the overlap');
  for (const secret of [ofFirst, ofPrevious, ofSecond]) assert.equal(await at.statusOf(secret), 200);
  at.app.clock.advance({ seconds: 60 });
  for (const secret of [ofFirst, ofPrevious]) assert.equal(await at.statusOf(secret), 401, 'the overlap has ended');
  assertClientRejected(await requestAs(at.app, at.id, at.key));
  assert.equal(await at.statusOf(ofSecond), 200);

  const third = (await at.call('POST', '/rotate', {})) as { key: string };
  assert.equal(await at.statusOf(ofSecond), 200);
  await at.call('DELETE', '/previous');
  assert.equal(await at.statusOf(ofSecond), 401, 'the early end of the previous secret');

  const ofThird = await at.token(third.key);
  const fourth = (await at.call('POST', '/rotate', { overlapSeconds: 0 })) as { key: string };
  assert.equal(await at.statusOf(ofThird), 401, 'a rotation without overlap');

  const ofFourth = await at.token(fourth.key);
  const { leaks } = at.app.service.services;
  assert.deepEqual(await leaks.report(operator, [{ text: fourth.key }]), ['current']);
  assert.equal(await at.statusOf(ofFourth), 401, 'a report of its secret');
  assertClientRejected(await requestAs(at.app, at.id, fourth.key));

  const fifth = (await at.call('POST', '/rotate', {})) as { key: string };
  const [one, two] = [await at.token(fifth.key), await at.token(fifth.key)];
  assert.deepEqual(await leaks.report(operator, [{ text: one }]), ['short_lived']);
  assert.deepEqual([await at.statusOf(one), await at.statusOf(two)], [401, 200], 'a report of it ends it alone');
  await at.call('PATCH', '', { disabled: true });
  assert.equal(await at.statusOf(two), 401, 'a disabled key');
  await at.call('PATCH', '', { disabled: false });
  assert.equal(await at.statusOf(two), 200);
  await at.call('DELETE');
  assert.equal(await at.statusOf(two), 401, 'a deleted key');
});

test('a key that gets a scope of Keyreeve has no short-lived secrets', async () => {
  await using at = await fixture({ scopes: ['a'] });
  const secret = await at.token();
  const { keyChanges } = at.app.service.services;
  await keyChanges.change(operator, at.account.id, at.id, { scopes: ['a', 'keyreeve:verify'] });
  assert.equal(await at.statusOf(secret), 401);
  const verification = await at.app.call('POST', '/auth/verify', {
    headers: bearer(secret),
    json: { credential: at.key },
  });
  assertProblem(fromFetch(verification), 'invalid_service_key');
  await keyChanges.change(operator, at.account.id, at.id, { scopes: ['a'] });
  assert.equal(await at.statusOf(secret), 200);
});

test('the limits of a key are spent by verifications of its short-lived secrets only', async () => {
  await using at = await fixture({ limits: { quota: { limit: 1, per: 'day' } } });
  const secrets = [await at.token(), await at.token()];
  const statuses = [];
  for (const secret of [...secrets, at.key]) statuses.push(await at.statusOf(secret));
  assert.deepEqual(statuses, [200, 429, 429]);
  await at.token();
});

test('an exchange is a use of the secret', async () => {
  await using at = await fixture();
  await at.call('POST', '/rotate', {});
  at.app.clock.advance({ seconds: limits.lastUsedResolutionSeconds });
  await at.token();
  await at.app.service.services.uses.flush();
  const { previous } = (await at.call('GET')) as { previous: { lastUsedAt: string } };
  assert.equal(previous.lastUsedAt, new Date(at.app.clock.now()).toISOString());
});

test('the secret of a key of a further environment has this environment', async () => {
  await using at = await fixture({ environment: 'test' }, { KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test' });
  const { status, json } = await at.app.call('POST', '/auth/verify', {
    headers: bearer(await at.app.serviceKey()),
    json: { credential: await at.token(), environments: ['test'] },
  });
  assert.equal(status, 200);
  assert.equal((json as { environment?: string }).environment, 'test');
});

test('an imported key is a client too; an escape in its secret is sent form-encoded', async () => {
  await using at = await fixture();
  for (const [nickname, text, unencoded] of [
    ['base64', 'older+key/with=signs', 200],
    ['escape', 'older%41key%zz', 200],
    ['latin', 'sk-été', 200],
    ['ambiguous', 'older%41key', 401],
  ] as const) {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const { id } = await at.app.service.services.apiKeys.createWithHash(operator, at.account.id, { nickname }, sha256);
    assert.equal((await requestAs(at.app, id, text)).status, unencoded, nickname);
    assert.equal((await requestAs(at.app, id, encodeURIComponent(text))).status, 200, nickname);
    const parameters = { client_id: String(id), client_secret: text };
    assert.equal((await requestToken(at.app, { parameters })).status, 200, nickname);
  }
});

testOnBoth('at its bounds, an exchange is refused, and no secret ends', async () => {
  await using at = await fixture();
  const secret = await at.token();
  const { db, installation, clock } = at.app;
  const now = clock.now();
  const insert = (n: number): Promise<boolean> =>
    db.transaction((tx) => {
      const row = {
        hash: hashOf(String(n)),
        keyId: at.id,
        issuedBy: at.app.service.services.verifier.lookupOf(at.key),
      };
      return insertBoundedShortLivedTx(tx, { ...row, now, expiresAt: now + 30_000 });
    });
  for (let n = 2; n < limits.trustLiveSecretsMax; n++) assert.ok(await insert(n));
  // The last one, for which two clients compete.
  const answers = await Promise.all([1, 2].map(() => requestAs(at.app, at.id, at.key)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 429]));
  assertProblem(fromFetch(await requestAs(at.app, at.id, at.key)), 'too_many_exchanges');
  assert.equal(await at.statusOf(secret), 200);
  clock.advance({ seconds: 30 });
  const { rateLimitBucket } = installation.keys;
  await db.transaction(async (tx) => {
    for (let n = 3; n <= limits.trustExchangesPerMinuteMax; n++)
      await countClientExchangeTx(tx, rateLimitBucket, at.id, clock.now());
  });
  const refused = await requestAs(at.app, at.id, at.key);
  assertProblem(fromFetch(refused), 'too_many_exchanges');
  assert.equal(refused.headers.get('retry-after'), '30');
  clock.advance({ seconds: 30 });
  await at.token();
});

test('the metadata names the grant and the forms of the credentials, and a client library works', async () => {
  await using at = await fixture();
  const issuer = new URL(at.app.service.publicUrl);
  for (const authentication of [client.ClientSecretBasic(at.key), client.ClientSecretPost(at.key)]) {
    const config = await client.discovery(issuer, String(at.id), undefined, authentication, {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    });
    const metadata = config.serverMetadata();
    assert.ok(metadata.grant_types_supported?.includes(clientCredentialsGrant));
    assert.deepEqual(metadata.token_endpoint_auth_methods_supported, [
      'client_secret_basic',
      'client_secret_post',
      'none',
    ]);
    const tokens = await client.clientCredentialsGrant(config);
    assert.equal(tokens.expires_in, 600);
    assert.equal(await at.statusOf(tokens.access_token), 200);
    await assert.rejects(client.clientCredentialsGrant(config, { scope: 'a' }), { error: 'invalid_scope' });
  }
});
