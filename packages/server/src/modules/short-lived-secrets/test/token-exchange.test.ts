/** The exchange of identity tokens for short-lived secrets of keys that trust their issuer. */
import assert from 'node:assert/strict';
import {
  errors,
  jwtBearerGrant,
  limits,
  tokenExchangeGrant,
  tokenTypes,
  type ExchangedSecret,
} from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { tokenShapes, type ShapeName } from '../../../../test-kit/identity-claims.ts';
import { newIdentityIssuer, newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { addIssuer } from '../../../../test-kit/issuers.ts';
import { bearer, type Answered } from '../../../../test-kit/new-app.ts';
import {
  exchange as exchangeAssertion,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
} from '../../../../test-kit/public-key-client.ts';
import {
  exchangeSubjectToken,
  exchangeToken,
  newTrustedKey,
  oauthErrorOf,
  postForm,
  secretOf,
  type TrustedKey,
} from '../../../../test-kit/trusted-key.ts';

const description = errors.invalid_grant.meaning;

function assertRejected(answer: Answered, what: string, error = 'invalid_grant'): void {
  assert.equal(answer.status, 400, what);
  assert.deepEqual(answer.json, { error, error_description: description }, what);
}

const logged = ({ app }: TrustedKey): unknown[] =>
  app.logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'identity_token_rejected')
    .map(({ reason, keyId }) => [reason, keyId]);

testOnBoth('both grants exchange an identity token for a secret that is used like the key', async () => {
  await using at = await newTrustedKey({ claims: { repository_id: '4711', ref: 'refs/heads/main' } });
  const answer = await at.exchange();
  assert.equal(answer.status, 200, answer.text);
  const { access_token: secret = '', ...rest } = answer.json as Partial<ExchangedSecret>;
  // GitHub's tokens are valid for 5 minutes.
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 300 });
  assert.match(secret, /^krvt_[0-9A-Za-z]{49}$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const forwarded = await at.app.call('GET', '/auth/forward', { headers: bearer(secret) });
  assert.deepEqual([forwarded.status, forwarded.headers.get('x-keyreeve-account')], [200, at.user.account.id]);
  for (const subject_token_type of [tokenTypes.jwt, tokenTypes.idToken]) {
    const exchanged = await exchangeSubjectToken(at.app, at.keyId, at.token(), { subject_token_type });
    assert.equal(exchanged.status, 200, exchanged.text);
    const { access_token: second = '', ...others } = exchanged.json as Partial<ExchangedSecret>;
    const issued_token_type = tokenTypes.accessToken;
    assert.deepEqual(others, { issued_token_type, token_type: 'Bearer', expires_in: 300 });
    assert.ok(await at.isAccepted(second));
  }
  assert.equal(at.app.logLines.join('').includes(secret), false, 'the log has no secret');
});

const workloads: readonly (readonly [shape: ShapeName, claims: Readonly<Record<string, string | number | boolean>>])[] =
  [
    ['gitlab', { project_id: '20', ref: 'main', runner_id: 1 }],
    ['gitlab', { project_id: '20', groups_direct: 'other-group' }],
    ['kubernetes', { '/kubernetes.io/serviceaccount/uid': '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' }],
    ['google', { sub: '112010400000000710080', email_verified: true }],
    [
      'aws',
      { sub: 'arn:aws:iam::123456789012:role/Deployer', '/https:~1~1sts.amazonaws.com~1/org_id': 'o-exampleorgid' },
    ],
    ['azureV2', { oid: 'a9f7d7c2-5f0c-4f44-8a9d-0f3f1f3c8a11' }],
    ['circleci', { 'oidc.circleci.com/project-id': '2b9c7f5e-1d1f-4f0e-8d5a-6a7c8b9d0e1f' }],
    ['buildkite', { pipeline_id: '0184990a-4782-42b5-afc1-16715b10b8ff', build_number: 1 }],
  ];

test('a key trusts tokens of each kind of workload, by claims of each type', async () => {
  const idClaims = [
    '/project_id',
    '/kubernetes.io/serviceaccount/uid',
    '/sub',
    '/oid',
    '/pipeline_id',
    '/oidc.circleci.com~1project-id',
  ];
  const settings = { idClaims, listClaims: ['/groups_direct'], lifetimeSeconds: 90_000, replay: 'until-exp' } as const;
  await using at = await newTrustedKey({ issuer: settings, claims: { sub: 'a' } });
  for (const [shape, claims] of workloads) {
    const id = await at.addKey({ issuer: at.issuer.url, claims });
    const token = at.issuer.token(shape);
    const answer = await at.exchange(token, id);
    assert.ok(await at.isAccepted(secretOf(answer)), shape);
    // A secret is valid for at most ten minutes, and not longer than the token.
    const seconds = Math.min(limits.shortLivedSecretSeconds, tokenShapes[shape].lifetimeSeconds);
    assert.equal((answer.json as ExchangedSecret).expires_in, seconds, shape);
    for (const [name, value] of Object.entries(claims)) {
      const other = await at.addKey({ issuer: at.issuer.url, claims: { ...claims, [name]: `${value}0` } });
      assertRejected(await at.exchange(token, other), `${shape}, another ${name}`);
    }
  }
});

test('every rejected token gets the same response, and the log has the cause', async () => {
  await using at = await newTrustedKey({ claims: { repository_id: '4711', ref: 'refs/heads/main', actor_id: '12' } });
  const { app, keyId, token } = at;
  const stranger = newIssuerKey('ES256');
  const seconds = Math.floor(at.clock.now() / 1_000);
  const { id: secretId } = (await at.send('POST', '/auth/api-keys', { nickname: 'secret' })).json as { id: number };
  const publicId = await newPublicKeyKey(app, at.user.accessToken, newKeyPair());
  const rejected: [reason: string, answer: () => Promise<Answered>][] = [
    ['format', () => at.exchange('abc')],
    ['format', () => at.exchange(`${token()}.`)],
    ['format', () => at.exchange(token({ claims: { padding: 'a'.repeat(16_384) } }))],
    ['format', () => at.exchange(token(), `0${keyId}`)],
    ['format', () => at.exchange(token(), 'deploy')],
    ['key_unknown', () => at.exchange(token(), keyId + 1)],
    ['key_unknown', () => at.exchange(token(), secretId)],
    ['key_unknown', () => at.exchange(token(), publicId)],
    ['issuer', () => at.exchange(token({ claims: { iss: `${at.issuer.url}/` } }))],
    ['audience', () => at.exchange(token({ audience: `${app.service.publicUrl}/` }))],
    ['format', () => at.exchange(token({ claims: { aud: [app.service.publicUrl, 'https://example.com'] } }))],
    ['token', () => at.exchange(token({ signer: { ...stranger, kid: at.issuer.keys[0]!.kid } }))],
    ['token', () => at.exchange(token({ claims: { exp: seconds - 60 } }))],
    ['token', () => at.exchange(token({ claims: { exp: seconds + 3_601 } }))],
    ['claims', () => at.exchange(token({ claims: { ref: 'refs/heads/next' } }))],
    ['claims', () => at.exchange(token({ claims: { repository_id: 4711 } }))],
    ['claims', () => at.exchange(token({ claims: { ref: ['refs/heads/main'] } }))],
    ['claims', () => at.exchange(token({ claims: { ref: undefined } }))],
    ['claims', () => at.exchange(token({ claims: { repository_id: undefined, '/repository_id': '4711' } }))],
    ['token', () => at.exchange(token({ claims: { jti: undefined } }))],
    ['expired', () => at.exchange(token({ claims: { iat: seconds - 100, exp: seconds } }))],
  ];
  for (const [reason, answer] of rejected) {
    const before = logged(at).length;
    assertRejected(await answer(), reason);
    assert.deepEqual((logged(at)[before] as unknown[])[0], reason);
  }
  assertRejected(await exchangeSubjectToken(app, keyId, 'abc'), 'RFC 8693 section 2.2.2', 'invalid_request');
  assert.equal((await at.exchange()).status, 200);
});

test('a key that may not be used gets the same response as an unknown one', async () => {
  await using at = await newTrustedKey({ creation: { addresses: ['203.0.113.0/24'] } });
  const change = async (json: object): Promise<void> =>
    assert.equal((await at.send('PATCH', `/auth/api-keys/${at.keyId}`, json)).status, 200);
  assertRejected(await at.exchange(), 'another client IP');
  await change({ addresses: null, disabled: true });
  assertRejected(await at.exchange(), 'a disabled key');
  await change({ disabled: false, expiresAt: new Date(at.clock.now() + 5_500).toISOString() });
  assert.equal(((await at.exchange()).json as ExchangedSecret).expires_in, 5, 'the key expires earlier');
  at.clock.advance({ seconds: 5 });
  assertRejected(await at.exchange(), 'less than a second is left');
  await change({ expiresAt: null });
  const secret = await at.newSecret();
  await at.app.service.services.accounts.disable({ kind: 'operator' }, at.user.account.id);
  assertRejected(await at.exchange(), 'a key of a disabled account');
  assert.equal(await at.isAccepted(secret), false);
});

test('a malformed request gets an error of its RFC', async () => {
  await using at = await newTrustedKey();
  const { app, keyId } = at;
  const assertion = at.token();
  const subject = (parameters: Readonly<Record<string, string | undefined>>): Promise<Answered> =>
    exchangeSubjectToken(app, keyId, assertion, parameters);
  const bearerGrant = (parameters: Readonly<Record<string, string | undefined>>): Promise<Answered> =>
    postForm(app, { grant_type: jwtBearerGrant, client_id: String(keyId), assertion, ...parameters });
  for (const [error, answer] of [
    ['invalid_request', bearerGrant({ assertion: '' })],
    ['invalid_scope', bearerGrant({ scope: 'orders:read' })],
    ['invalid_request', subject({ client_id: undefined })],
    ['invalid_request', subject({ subject_token: '' })],
    ['invalid_request', subject({ subject_token_type: undefined })],
    ['invalid_request', subject({ subject_token_type: tokenTypes.accessToken })],
    ['invalid_request', subject({ requested_token_type: tokenTypes.jwt })],
    ['invalid_request', subject({ actor_token: assertion })],
    ['invalid_target', subject({ resource: 'https://api.example.com' })],
    ['invalid_target', subject({ audience: 'api' })],
    ['invalid_scope', subject({ scope: 'orders:read' })],
    ['unsupported_grant_type', subject({ grant_type: `${tokenExchangeGrant}s` })],
  ] as const)
    assert.equal(oauthErrorOf(await answer), error);
  const tooLong = await postForm(app, { grant_type: jwtBearerGrant, client_id: '1', assertion: 'a'.repeat(24_577) });
  assert.equal(tooLong.status, 413);
  const body = new URLSearchParams({ grant_type: jwtBearerGrant, client_id: String(keyId), assertion }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...bearer('krv_a') };
  assert.equal(oauthErrorOf(await app.call('POST', '/auth/oauth/token', { headers, body })), 'invalid_request');
  assert.equal((await subject({ requested_token_type: tokenTypes.accessToken })).status, 200, 'the token is unused');
});

test('a client with a private key may send a client_id, which decides nothing', async () => {
  await using at = await newTrustedKey();
  const pair = newKeyPair();
  const publicId = await newPublicKeyKey(at.app, at.user.accessToken, pair);
  const assertion = newAssertion(at.app, pair, publicId);
  assert.equal((await exchangeAssertion(at.app, assertion, { client_id: String(at.keyId) })).status, 200);
});

test('the client_id selects one of two accounts that trust the same claims', async () => {
  await using at = await newTrustedKey({ issuer: { preset: 'gitlab' }, shape: 'gitlab', claims: { project_id: '20' } });
  const other = await at.app.signIn('other@example.com');
  const json = { nickname: 'same', trust: { issuer: at.issuer.url, claims: { project_id: '20' } } };
  const created = await at.app.call('POST', '/auth/api-keys/public', { headers: bearer(other.accessToken), json });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json as { id: number };
  const token = at.token();
  const accountOf = async (clientId: number): Promise<string | null> => {
    const secret = secretOf(await exchangeToken(at.app, clientId, token));
    return (await at.app.call('GET', '/auth/forward', { headers: bearer(secret) })).headers.get('x-keyreeve-account');
  };
  assert.equal(await accountOf(at.keyId), at.user.account.id);
  assert.equal(await accountOf(id), other.account.id);
});

test('a trust names one of the allowed audiences, and accepts only tokens for it', async () => {
  const KEYREEVE_EXCHANGE_AUDIENCES = 'sts.example.com, https://old.example.com';
  await using at = await newTrustedKey({ environment: { KEYREEVE_EXCHANGE_AUDIENCES } });
  const audience = 'sts.example.com';
  const id = await at.addKey({ issuer: at.issuer.url, claims: { repository_id: '4711' }, audience });
  assertRejected(await at.exchange(at.token(), id), 'the public URL');
  assert.equal((await at.exchange(at.token({ audience }), id)).status, 200);
  assertRejected(await at.exchange(at.token({ audience })), 'the audience of another key');
});

test('a key of a further environment is found, and a token is valid for one of two issuers with the same signing key', async () => {
  const KEYREEVE_ENVIRONMENTS = 'live:krv,test:krv_test';
  await using at = await newTrustedKey({ environment: { KEYREEVE_ENVIRONMENTS } });
  await using second = await newIdentityIssuer({ clock: at.clock, keys: at.issuer.keys, audience: at.issuer.audience });
  await addIssuer(at.app.db, { url: second.url, preset: 'github', algorithms: ['ES256'] });
  const id = await at.addKey({ issuer: at.issuer.url, claims: { repository_id: '4711' } }, { environment: 'test' });
  assert.equal((await at.exchange(at.token(), id)).status, 200);
  assertRejected(await at.exchange(second.token('github'), id), 'another issuer');
});

test('an issuer whose keys cannot be fetched answers 503', async () => {
  await using at = await newTrustedKey();
  at.issuer.setFault('jwks', 'unavailable');
  const answer = await at.exchange();
  assert.equal(answer.status, 503, answer.text);
});
