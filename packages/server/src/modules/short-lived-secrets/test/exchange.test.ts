/** The exchange of assertions for short-lived secrets. */
import assert from 'node:assert/strict';
import { jwtBearerGrant, limits, type ExchangedSecret } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { basic, bearer, newApp, type Answered } from '../../../../test-kit/new-app.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';
import {
  exchange,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
  newShortLived,
  signJwt,
  type AssertionParts,
} from '../../../../test-kit/public-key-client.ts';
import { recordRestoreTx } from '../../../foundation/database/installation.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

async function fixture(creation: object = {}, pair = newKeyPair()) {
  const app = await newApp();
  const user = await app.signIn();
  const owner = bearer(user.accessToken);
  const keyId = await newPublicKeyKey(app, user.accessToken, pair, creation);
  const assertion = (parts?: AssertionParts, by = pair): string => newAssertion(app, by, keyId, parts);
  const change = async (json: object): Promise<void> => {
    const { status, text } = await app.call('PATCH', `/auth/api-keys/${keyId}`, { headers: owner, json });
    assert.equal(status, 200, text);
  };
  const dispose = { [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  return { app, ...user, owner, pair, keyId, assertion, change, ...dispose };
}
type At = Awaited<ReturnType<typeof fixture>>;

const codeOf = ({ json }: Answered): string => (json as { error: string }).error;
const statusOf = async ({ app }: At, secret: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status;
const seconds = (at: At): number => Math.floor(at.app.clock.now() / 1_000);

function assertGrantRejected(answer: Answered, what = 'the assertion'): void {
  assert.equal(answer.status, 400, what);
  const description =
    'The assertion or identity token is malformed, expired, used before, not signed by a public key of its API key or issuer, not addressed to this server, or does not match the trust of the API key, or the API key is not valid for this client. The response is the same for each cause.';
  assert.deepEqual(answer.json, { error: 'invalid_grant', error_description: description }, what);
}

for (const alg of ['EdDSA', 'ES256'] as const)
  test(`a client with an ${alg} key exchanges an assertion for a short-lived secret`, async () => {
    await using at = await fixture({}, newKeyPair(alg));
    const answer = await exchange(at.app, at.assertion());
    assert.equal(answer.status, 200, answer.text);
    const { access_token: secret = '', ...rest } = answer.json as Partial<ExchangedSecret>;
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 600 });
    assert.match(secret, /^krvt_[0-9A-Za-z]{49}$/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('pragma'), 'no-cache');
    assert.equal(await statusOf(at, secret), 200);
    assert.equal(at.app.logLines.join('').includes(secret), false, 'the log has no secret');
  });

test('the accepted forms of an assertion', async () => {
  await using at = await fixture();
  const iat = seconds(at);
  const aud = at.app.service.publicUrl;
  const accepted: Record<string, AssertionParts> = {
    'the name of RFC 9864': { header: { alg: 'Ed25519' } },
    'a type': { header: { typ: 'JWT' } },
    'a list with one audience': { claims: { aud: [aud] } },
    'a fraction of a second': { claims: { iat: iat + 0.5, exp: iat + 30.25 } },
    'the longest lifetime': { claims: { exp: iat + 120 } },
    'a clock that is a minute behind': { claims: { iat: iat - 60, exp: iat + 60 } },
    'a clock that is a minute ahead': { claims: { iat: iat + 60, nbf: iat + 60, exp: iat + 180 } },
    'the shortest jti': { claims: { jti: 'a'.repeat(16) } },
    'the longest jti': { claims: { jti: '~'.repeat(128) } },
    'a further claim': { claims: { scope: 'everything' } },
  };
  for (const [form, parts] of Object.entries(accepted)) {
    const answer = await exchange(at.app, at.assertion(parts));
    assert.equal(answer.status, 200, form);
  }
});

test('every rejected assertion gets the same response', async () => {
  await using at = await fixture();
  const iat = seconds(at);
  const id = String(at.keyId);
  const aud = at.app.service.publicUrl;
  const stranger = newKeyPair();
  const other = newKeyPair('ES256');
  const valid = at.assertion();
  const [header = '', payload = '', signature = ''] = valid.split('.');
  const rejected: Record<string, string> = {
    'not a JWT': 'abc',
    'no signature': `${header}.${payload}.`,
    'a fourth part': `${valid}.AA`,
    'a truncated signature': `${header}.${payload}.${signature.slice(0, -4)}`,
    'another encoding of the signature': `${valid}=`,
    'a changed payload': `${header}.${payload.slice(0, -2)}${payload.slice(-2) === 'AA' ? 'BB' : 'AA'}.${signature}`,
    'another private key': at.assertion({}, stranger),
    'another algorithm than that of the key': at.assertion({}, other),
    'the name of another algorithm': at.assertion({ header: { alg: 'ES256' } }),
    'the algorithm none': at.assertion({ header: { alg: 'none' } }),
    'a symmetric algorithm': at.assertion({ header: { alg: 'HS256' } }),
    'no algorithm': at.assertion({ header: { alg: undefined } }),
    'no kid': at.assertion({ header: { kid: undefined } }),
    'a kid of an unknown key': newAssertion(at.app, at.pair, at.keyId + 1),
    'a kid that is not in decimal form': at.assertion({
      header: { kid: `0${id}` },
      claims: { iss: `0${id}`, sub: `0${id}` },
    }),
    'a kid that is a number': at.assertion({ header: { kid: at.keyId } }),
    'a critical header': at.assertion({ header: { crit: ['b64'], b64: false } }),
    'a key in the header': at.assertion({ header: { jwk: stranger.publicKey } }, stranger),
    'a URL of keys in the header': at.assertion({ header: { jku: 'https://example.com' } }),
    'the type of an access token': at.assertion({ header: { typ: 'at+jwt' } }),
    'another issuer': at.assertion({ claims: { iss: at.account.id } }),
    'another subject': at.assertion({ claims: { sub: at.account.id } }),
    'no issuer': at.assertion({ claims: { iss: undefined } }),
    'no audience': at.assertion({ claims: { aud: undefined } }),
    'another audience': at.assertion({ claims: { aud: 'https://example.com' } }),
    'the audience with a slash': at.assertion({ claims: { aud: `${aud}/` } }),
    'two audiences': at.assertion({ claims: { aud: [aud, 'https://example.com'] } }),
    'no exp': at.assertion({ claims: { exp: undefined } }),
    'no iat': at.assertion({ claims: { iat: undefined } }),
    'an exp that is text': at.assertion({ claims: { exp: String(iat + 60) } }),
    'too long a lifetime': at.assertion({ claims: { exp: iat + 121 } }),
    expired: at.assertion({ claims: { iat: iat - 50, exp: iat } }),
    'an iat too far in the past': at.assertion({ claims: { iat: iat - 61, exp: iat + 50 } }),
    'an iat too far in the future': at.assertion({ claims: { iat: iat + 62, exp: iat + 100 } }),
    'an nbf too far in the future': at.assertion({ claims: { nbf: iat + 62 } }),
    'exp before iat': at.assertion({ claims: { iat: iat + 50, exp: iat + 40 } }),
    'no jti': at.assertion({ claims: { jti: undefined } }),
    'a short jti': at.assertion({ claims: { jti: 'a'.repeat(15) } }),
    'a long jti': at.assertion({ claims: { jti: 'a'.repeat(129) } }),
    'a jti with a space': at.assertion({ claims: { jti: `${'a'.repeat(20)} b` } }),
    'claims that are a list': signJwt(at.pair, { alg: 'EdDSA', kid: id }, []),
  };
  const repeated = JSON.stringify({ iss: id, sub: id, aud, iat, exp: iat + 60, jti: 'a'.repeat(20) });
  rejected['a repeated claim'] = signJwt(at.pair, { alg: 'EdDSA', kid: id }, repeated.replace('{', '{"iss":"1",'));
  for (const [what, assertion] of Object.entries(rejected))
    assertGrantRejected(await exchange(at.app, assertion), what);
  // The valid assertion is still unused, so the rejections did not come from another cause.
  assert.equal((await exchange(at.app, valid)).status, 200);
});

test('a key that may not be used gets the same response as an unknown one', async () => {
  await using at = await fixture({ addresses: ['127.0.0.0/8'] });
  const expectRejection = async (what: string): Promise<void> =>
    assertGrantRejected(await exchange(at.app, at.assertion()), what);
  assert.equal((await exchange(at.app, at.assertion())).status, 200);
  await at.change({ addresses: ['203.0.113.0/24'] });
  await expectRejection('another client IP');
  await at.change({ addresses: null, disabled: true });
  await expectRejection('a disabled key');
  await at.change({ disabled: false, expiresAt: new Date(at.app.clock.now() + 5_500).toISOString() });
  const { json } = await exchange(at.app, at.assertion());
  assert.equal((json as ExchangedSecret).expires_in, 5, 'the key expires earlier');
  at.app.clock.advance({ seconds: 5 });
  await expectRejection('less than a second is left');
  await at.change({ expiresAt: null });
  assert.equal((await exchange(at.app, at.assertion())).status, 200);
  const { status } = await at.app.call('DELETE', `/auth/api-keys/${at.keyId}`, { headers: at.owner });
  assert.equal(status, 200);
  await expectRejection('a deleted key');
});

test('a key with a secret has no assertions', async () => {
  await using at = await fixture();
  const json = { nickname: 'secret' };
  const created = await at.app.call('POST', '/auth/api-keys', { headers: at.owner, json });
  const { id } = created.json as { id: number };
  assertGrantRejected(await exchange(at.app, newAssertion(at.app, at.pair, id)));
});

test('a key of a disabled account gets no secret', async () => {
  await using at = await fixture();
  const secret = await newShortLived(at.app, at.pair, at.keyId);
  await at.app.service.services.accounts.disable({ kind: 'operator' }, at.account.id);
  assertGrantRejected(await exchange(at.app, at.assertion()));
  assert.equal(await statusOf(at, secret), 401);
});

test('a service account exchanges with its public key, and its deletion ends the secrets', async () => {
  await using app = await newApp();
  const { headers, path, serviceId } = await newBackend(app);
  const pair = newKeyPair();
  const json = { nickname: 'payroll', publicKey: pair.publicKey };
  const created = await app.call('POST', `${path}/api-keys/public`, { headers, json });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json as { id: number };
  const secret = await newShortLived(app, pair, id);
  const forward = () => app.call('GET', '/auth/forward', { headers: bearer(secret) });
  const accepted = await forward();
  assert.equal(accepted.status, 200);
  assert.equal(accepted.headers.get('x-keyreeve-account'), serviceId);
  assert.equal((await app.call('DELETE', path, { headers })).status, 200);
  assert.equal((await forward()).status, 401);
  assertGrantRejected(await exchange(app, newAssertion(app, pair, id)));
});

testOnBoth('an assertion yields one secret, also when 16 clients exchange it at once', async () => {
  await using at = await fixture();
  const assertion = at.assertion();
  const answers = await Promise.all(Array.from({ length: 16 }, () => whenAvailable(() => exchange(at.app, assertion))));
  const accepted = answers.filter(({ status }) => status === 200);
  assert.equal(accepted.length, 1);
  for (const answer of answers) if (answer.status !== 200) assertGrantRejected(answer);
  assertGrantRejected(await exchange(at.app, assertion), 'later');
  const [{ access_token: secret } = { access_token: '' }] = accepted.map(({ json }) => json as ExchangedSecret);
  assert.equal(await statusOf(at, secret), 200, 'a replay does not end the secret');
  const jti = 'b'.repeat(20);
  assert.equal((await exchange(at.app, at.assertion({ claims: { jti } }))).status, 200);
  assertGrantRejected(await exchange(at.app, at.assertion({ claims: { jti, exp: seconds(at) + 90 } })), 'the same jti');
  const pair = newKeyPair();
  const otherId = await newPublicKeyKey(at.app, at.accessToken, pair);
  const ofOther = newAssertion(at.app, pair, otherId, { claims: { jti } });
  assert.equal((await exchange(at.app, ofOther)).status, 200, 'another key may use the same jti');
});

testOnBoth('a key has at most 20 valid secrets: one more ends the oldest', async () => {
  await using at = await fixture();
  const secrets: string[] = [];
  for (let count = 0; count < limits.shortLivedSecretsMax; count++) {
    secrets.push(await newShortLived(at.app, at.pair, at.keyId));
    at.app.clock.advance({ seconds: 0.001 });
  }
  for (const secret of secrets) assert.equal(await statusOf(at, secret), 200);
  // All at once, so that the order of the rest does not depend on their times.
  const more = await Promise.all(Array.from({ length: 3 }, () => newShortLived(at.app, at.pair, at.keyId)));
  const statuses = await Promise.all([...secrets, ...more].map((secret) => statusOf(at, secret)));
  assert.deepEqual(statuses, [...Array<number>(3).fill(401), ...Array<number>(20).fill(200)]);
});

test('a key exchanges at most 120 assertions in a minute, and rejected ones do not count', async () => {
  await using at = await fixture();
  const used = at.assertion();
  assert.equal((await exchange(at.app, used)).status, 200);
  for (let count = 0; count < 5; count++) assertGrantRejected(await exchange(at.app, used));
  for (let count = 0; count < 5; count++) assertGrantRejected(await exchange(at.app, at.assertion({}, newKeyPair())));
  for (let count = 1; count < limits.exchangesPerMinuteMax; count++) await newShortLived(at.app, at.pair, at.keyId);
  const refused = at.assertion();
  const answer = await exchange(at.app, refused);
  assertProblem(fromFetch(answer), 'too_many_exchanges');
  assert.equal(answer.headers.get('retry-after'), '60');
  const pair = newKeyPair();
  await newShortLived(at.app, pair, await newPublicKeyKey(at.app, at.accessToken, pair));
  at.app.clock.advance({ seconds: 60 });
  assert.equal((await exchange(at.app, refused)).status, 400, 'it has expired meanwhile');
  assert.equal((await exchange(at.app, at.assertion())).status, 200);
});

test('a malformed request gets an error of RFC 6749', async () => {
  await using at = await fixture();
  const { app } = at;
  const valid = at.assertion();
  const cases: [error: string, answer: Promise<Answered>][] = [
    ['unsupported_grant_type', exchange(app, valid, { grant_type: 'password' })],
    ['unsupported_grant_type', exchange(app, valid, { grant_type: `${jwtBearerGrant} ` })],
    ['invalid_request', exchange(app, valid, { grant_type: undefined })],
    ['invalid_request', exchange(app, valid, { grant_type: '' })],
    ['invalid_request', exchange(app, valid, { assertion: undefined })],
    ['invalid_request', exchange(app, valid, { assertion: '' })],
    ['invalid_scope', exchange(app, valid, { scope: 'orders:read' })],
    ['invalid_request', exchange(app, valid, {}, bearer('abc'))],
    ['invalid_request', exchange(app, valid, {}, basic('client', 'secret'))],
    ['invalid_request', exchange(app, valid, {}, { 'x-api-key': 'abc' })],
  ];
  const body = `grant_type=${encodeURIComponent(jwtBearerGrant)}&assertion=${valid}&assertion=${valid}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  cases.push(['invalid_request', app.call('POST', '/auth/oauth/token', { headers: form, body })]);
  for (const [error, answering] of cases) {
    const answer = await answering;
    assert.equal(answer.status, 400);
    assert.equal(codeOf(answer), error);
    assert.deepEqual(Object.keys(answer.json as object), ['error', 'error_description']);
    assert.match((answer.json as { error_description: string }).error_description, /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  const tooLarge = await exchange(app, 'a'.repeat(limits.exchangeBodyBytesMax));
  assertProblem(fromFetch(tooLarge), 'body_too_large');
  const json = await app.call('POST', '/auth/oauth/token', { json: { grant_type: jwtBearerGrant } });
  assertProblem(fromFetch(json), 'unsupported_media_type');
  assert.equal((await exchange(app, valid, { scope: '', client_id: 'a' })).status, 200, 'other parameters are ignored');
});

testOnBoth('after a restore, an assertion that may have been used before it is rejected', async () => {
  await using at = await fixture();
  const before = at.assertion();
  assert.equal((await exchange(at.app, at.assertion())).status, 200);
  await at.app.db.transaction((tx) => recordRestoreTx(tx, at.app.clock.now()));
  assertGrantRejected(await exchange(at.app, before));
  assert.ok(at.app.logLines.some((line) => line.includes('"reason":"restored"')));
  at.app.clock.advance({ seconds: limits.assertionSkewSeconds });
  assertGrantRejected(await exchange(at.app, before));
  assert.equal((await exchange(at.app, at.assertion())).status, 200);
});

test('the log has the cause of a rejected assertion', async () => {
  await using at = await fixture();
  await exchange(at.app, at.assertion({ claims: { aud: 'https://example.com' } }));
  const line = at.app.logLines.find((one) => one.includes('assertion_rejected')) ?? '{}';
  const { event, reason, keyId } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual({ event, reason, keyId }, { event: 'assertion_rejected', reason: 'audience', keyId: at.keyId });
});
