/** `/auth/introspect` (RFC 7662), also with a public client library. */
import assert from 'node:assert/strict';
import * as client from 'openid-client';
import { type CreatedKey, type ErrorCode } from '@keyreeve/contract';
import { basic, bearer, goodPassword, newApp, operator } from '../../../../test-kit/new-app.ts';
import { assertProblem, assertSecurityHeaders, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

type Headers = Record<string, string>;
const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function fixture() {
  const app = await newApp();
  const service = await app.service.services.apiKeys.create(operator, (await app.createAccount()).id, {
    nickname: 'gateway',
    scopes: ['keyreeve:verify'],
  });
  const serviceKey = service.secret.reveal();
  const signedIn = await app.signIn();
  const create = async (more: object): Promise<CreatedKey> =>
    (await app.call('POST', '/auth/api-keys', { headers: bearer(signedIn.accessToken), json: more }))
      .json as CreatedKey;
  const introspect = (body: string, headers: Headers = bearer(serviceKey)) =>
    app.call('POST', '/auth/introspect', { headers: { ...form, ...headers }, body });
  return {
    app,
    ...signedIn,
    serviceId: String(service.id),
    serviceKey,
    create,
    introspect,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test('a public RFC 7662 client finds the endpoint by discovery and accepts its responses', async () => {
  await using at = await fixture();
  const key = await at.create({
    nickname: 'a',
    scopes: ['orders:read', 'orders:write'],
    expiresAt: '2027-01-31T00:00:00Z',
  });
  const issuer = new URL(at.app.service.publicUrl);
  const config = await client.discovery(issuer, at.serviceId, undefined, client.ClientSecretBasic(at.serviceKey), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  });
  const { issuer: named, introspection_endpoint: endpoint } = config.serverMetadata();
  assert.deepEqual([named, endpoint], [issuer.origin, `${issuer.origin}/auth/introspect`]);

  const now = Math.floor(at.app.clock.now() / 1000);
  assert.deepEqual(await client.tokenIntrospection(config, key.key), {
    active: true,
    sub: at.account.id,
    scope: 'orders:read orders:write',
    exp: Date.parse('2027-01-31T00:00:00Z') / 1000,
    iat: now,
    token_type: 'api_key',
  });
  assert.deepEqual(await client.tokenIntrospection(config, at.accessToken, { token_type_hint: 'access_token' }), {
    active: true,
    sub: at.account.id,
    exp: now + 600,
    iat: now,
    token_type: 'access_token',
  });
  await at.app.call('DELETE', `/auth/api-keys/${key.id}`, { headers: bearer(at.accessToken) });
  assert.deepEqual(await client.tokenIntrospection(config, key.key), { active: false });

  const unscoped = new client.Configuration(
    config.serverMetadata(),
    at.serviceId,
    undefined,
    client.ClientSecretBasic(key.key),
  );
  client.allowInsecureRequests(unscoped);
  await assert.rejects(client.tokenIntrospection(unscoped, at.accessToken), {
    code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
    status: 401,
  });
});

test('the response for a key without scopes and expiry contains neither', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'a' });
  const answer = await at.introspect(`token=${key}`);
  assertSecurityHeaders(fromFetch(answer));
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const iat = Math.floor(at.app.clock.now() / 1000);
  assert.deepEqual(answer.json, { active: true, sub: at.account.id, iat, token_type: 'api_key' });
});

test('the response for a rejected credential contains only active: false', async () => {
  await using at = await fixture();
  const { app } = at;
  const [deleted, expiring] = [
    await at.create({ nickname: 'deleted' }),
    await at.create({ nickname: 'expiring', expiresAt: new Date(app.clock.now() + 1_000).toISOString() }),
  ];
  await app.call('DELETE', `/auth/api-keys/${deleted.id}`, { headers: bearer(at.accessToken) });
  const [signedOut, disabled] = [await app.signIn(), await app.signIn()];
  const disabledKey = await app.service.services.apiKeys.create(operator, disabled.account.id, { nickname: 'a' });
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: signedOut.refreshToken } });
  await app.service.services.accounts.disable(operator, disabled.account.id);
  app.clock.advance({ seconds: 1 });
  const table: Readonly<Record<string, string>> = {
    'any text': 'password',
    'a deleted key': deleted.key,
    'an expired key': expiring.key,
    'an altered key': `${deleted.key.slice(0, -1)}-`,
    'a disabled account’s key': disabledKey.secret.reveal(),
    'a disabled account’s access token': disabled.accessToken,
    'an access token after a sign-out': signedOut.accessToken,
    'an altered access token': `${at.accessToken.slice(0, -4)}AAAA`,
    'a refresh token': at.refreshToken,
    'an email': at.account.email,
    'a replacement character': '\ufffd',
  };
  for (const [what, token] of Object.entries(table)) {
    const answer = await at.introspect(`token=${encodeURIComponent(token)}`);
    assert.deepEqual([answer.status, answer.text], [200, '{"active":false}'], what);
  }
});

test(
  'the caller authenticates with a valid key that has keyreeve:verify, as Basic, Bearer or X-API-Key',
  { tags: ['asvs:10.4.10'] },
  async () => {
    await using at = await fixture();
    const { key, id } = await at.create({ nickname: 'a' });
    const percent = (text: string): string => text.replaceAll(/./gs, (char) => `%${char.charCodeAt(0).toString(16)}`);
    const good: readonly Headers[] = [
      basic(at.serviceId, at.serviceKey),
      basic(percent(at.serviceId), percent(at.serviceKey)),
      bearer(at.serviceKey),
      { 'x-api-key': at.serviceKey },
    ];
    for (const headers of good)
      assert.equal((await at.introspect(`token=${key}`, headers)).status, 200, JSON.stringify(headers));

    const bad: Readonly<Record<string, readonly [headers: Headers, code: ErrorCode]>> = {
      'no credential': [{}, 'invalid_service_key'],
      'another key’s id': [basic(String(id), at.serviceKey), 'invalid_service_key'],
      'the id with a leading zero': [basic(`0${at.serviceId}`, at.serviceKey), 'invalid_service_key'],
      'an account’s id': [basic(at.account.id, at.serviceKey), 'invalid_service_key'],
      'no id': [basic('', at.serviceKey), 'invalid_service_key'],
      'no key': [basic(at.serviceId, ''), 'invalid_service_key'],
      'encoded twice': [basic(at.serviceId, percent(percent(at.serviceKey))), 'invalid_service_key'],
      'broken encoding': [basic(at.serviceId, `${at.serviceKey}%`), 'invalid_service_key'],
      'email and password': [basic(at.account.email, goodPassword), 'invalid_service_key'],
      'an access token': [bearer(at.accessToken), 'invalid_service_key'],
      'a key without the scope': [basic(String(id), key), 'insufficient_scope'],
      'a key without the scope as Bearer': [bearer(key), 'insufficient_scope'],
      'two credentials': [
        { ...basic(at.serviceId, at.serviceKey), 'x-api-key': at.serviceKey },
        'ambiguous_credentials',
      ],
    };
    for (const [what, [headers, code]] of Object.entries(bad)) {
      const rejected = await at.introspect(`token=${at.accessToken}`, headers);
      assertProblem(fromFetch(rejected), code, what);
      if (code !== 'invalid_service_key') continue;
      const challenge = 'Bearer realm="keyreeve", Basic realm="keyreeve", charset="UTF-8"';
      assert.equal(rejected.headers.get('www-authenticate'), challenge, what);
    }
    // RFC 6749 allows credentials in the body. Keyreeve ignores them.
    const inBody = await at.introspect(`token=${key}&client_id=${at.serviceId}&client_secret=${at.serviceKey}`, {});
    assertProblem(fromFetch(inBody), 'invalid_service_key');
  },
);

test('the body is a form with exactly one token', async () => {
  await using at = await fixture();
  const { key } = await at.create({ nickname: 'a' });
  const json = { 'content-type': 'application/json' };
  const table: Readonly<Record<string, readonly [body: string, code: ErrorCode, type?: Headers]>> = {
    'an empty body': ['', 'invalid_request'],
    'no token': ['token_type_hint=access_token', 'invalid_request'],
    'an empty token': ['token=', 'invalid_request'],
    'two tokens': [`token=${key}&token=${at.accessToken}`, 'invalid_request'],
    'the same token twice': [`token=${key}&token=${key}`, 'invalid_request'],
    'two tokens, one name escaped': [`token=${key}&t%6Fken=x`, 'invalid_request'],
    'two hints': [`token=${key}&token_type_hint=a&token_type_hint=b`, 'invalid_request'],
    'a token that is too long': [`token=${'x'.repeat(4_097)}`, 'invalid_request'],
    'too large a body': [`token=${'x'.repeat(16_384)}`, 'body_too_large'],
    JSON: [JSON.stringify({ token: key }), 'unsupported_media_type', json],
    'a form with the media type of JSON': [`token=${key}`, 'unsupported_media_type', json],
    'another charset': [
      `token=${key}`,
      'unsupported_media_type',
      { 'content-type': `${form['content-type']}; charset=latin1` },
    ],
    compressed: [`token=${key}`, 'unsupported_media_type', { 'content-encoding': 'gzip' }],
  };
  for (const [what, [body, code, type]] of Object.entries(table)) {
    assertProblem(fromFetch(await at.introspect(body, { ...bearer(at.serviceKey), ...type })), code, what);
  }
  // RFC 7662 section 2.1 allows other parameters and a wrong hint.
  const more = await at.introspect(`resource=x&__proto__=y&token=${key}&token_type_hint=refresh_token`);
  assert.equal((more.json as { active: boolean }).active, true);
  assertProblem(fromFetch(await at.app.call('GET', `/auth/introspect?token=${key}`)), 'method_not_allowed');
});
