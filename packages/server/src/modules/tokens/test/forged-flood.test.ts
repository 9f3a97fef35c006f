/** Forged access tokens with a published `kid`: what they cost, what their responses show, and whom they delay. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { limits } from '@keyreeve/contract';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { DomainError } from '../../../foundation/errors.ts';
import type { UnverifiedToken } from '../access-token.ts';
import { accessTokensOf, assertAccepted, assertRejected, genuineOf, type Fields } from './genuine-token.ts';

/** Counts the verifications of signatures from now on, in any thread. */
function countVerifications(): Disposable & { readonly count: () => number } {
  const spy = mock.method(crypto, 'verify');
  syncBuiltinESMExports();
  return {
    count: () => spy.mock.callCount(),
    [Symbol.dispose]: () => {
      spy.mock.restore();
      syncBuiltinESMExports();
    },
  };
}

const otherSignature = `.${'A'.repeat(86)}`;
/** The same header and payload without the signature of the installation. */
const forged = (token: string): string => token.slice(0, token.lastIndexOf('.')) + otherSignature;

type Send = (token: string) => Promise<Answered>;

/** Every kind of route that accepts an access token. */
function routesOf(app: TestApp, serviceKey: string): Readonly<Record<string, Send>> {
  const headers = bearer(serviceKey);
  return {
    account: (token) => app.call('GET', '/auth/api-keys', { headers: bearer(token) }),
    forward: (token) => app.call('GET', '/auth/forward', { headers: bearer(token) }),
    verify: (credential) => app.call('POST', '/auth/verify', { headers, json: { credential } }),
    batch: (token) => app.call('POST', '/auth/verify/batch', { headers, json: { credentials: [token] } }),
    introspect: (token) =>
      app.call('POST', '/auth/introspect', {
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: `token=${token}`,
      }),
  };
}

testOnBoth('a signature is verified only if key, times and session are right, and a right one only once', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const [other, signedOut] = [await app.signIn(), await app.signIn()];
  await assertAccepted(app, signedOut.accessToken, 'before the session ends');
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: signedOut.refreshToken } });
  const { header, payload, sign } = await genuineOf(app, signedIn);
  const now = app.clock.now() / 1000;
  const withClaims = (change: Fields): Promise<string> => sign(header, { ...payload, ...change });
  const unverified: Readonly<Record<string, string>> = {
    'an unknown session': await withClaims({ sid: 'ses_0000000000000000000000' }),
    'a session that has ended': signedOut.accessToken,
    'the session of another account': await withClaims({ sub: other.account.id }),
    'an unknown kid': await sign({ ...header, kid: 'A'.repeat(22) }, payload),
    'another algorithm': await sign({ ...header, alg: 'EdDSA' }, payload),
    'an expired token': await withClaims({ exp: now - 30 }),
    'a token of the future': await withClaims({ iat: now + 31 }),
    'another issuer': await withClaims({ iss: 'https://other.example' }),
  };
  using verified = countVerifications();
  const countOf = async (send: Send, token: string): Promise<number> => {
    const before = verified.count();
    await send(token);
    return verified.count() - before;
  };
  for (const [route, send] of Object.entries(routesOf(app, await app.serviceKey()))) {
    for (const [what, token] of Object.entries(unverified))
      assert.equal(await countOf(send, token), 0, `${route}: ${what}`);
    assert.equal(await countOf(send, forged(signedIn.accessToken)), 1, `${route}: forged`);
    const genuine = await withClaims({ jti: `for ${route}` });
    assert.deepEqual([await countOf(send, genuine), await countOf(send, genuine)], [1, 0], `${route}: genuine`);
  }
  for (const [what, token] of Object.entries(unverified)) await assertRejected(app, token, what);
  for (const [route, send] of Object.entries(routesOf(app, 'no key')).slice(2))
    assert.equal(await countOf(send, signedIn.accessToken), 0, `${route}: without a caller`);
  await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
});

/** Everything that a client receives, except the time and the id of the request. */
function received({ status, headers, text }: Answered): unknown {
  const { date, ...others } = Object.fromEntries(headers);
  assert.ok(date);
  return { status, headers: others, text: text.replace(/"requestId":"[\w-]{16}"/, '') };
}

test('a response does not show whether a forged token names a session that exists', async () => {
  await using app = await newApp();
  const [signedIn, signedOut, disabled] = [await app.signIn(), await app.signIn(), await app.signIn()];
  await app.call('POST', '/auth/token/revoke', { json: { refreshToken: signedOut.refreshToken } });
  await app.service.services.accounts.disable(operator, disabled.account.id);
  const { header, payload, sign } = await genuineOf(app, signedIn);
  const unknown = await sign(header, { ...payload, sid: 'ses_0000000000000000000000' });
  for (const [route, send] of Object.entries(routesOf(app, await app.serviceKey()))) {
    const responseTo = async (token: string) => received(await send(token));
    const expected = await responseTo(forged(unknown));
    for (const { accessToken } of [signedIn, signedOut, disabled])
      assert.deepEqual(await responseTo(forged(accessToken)), expected, route);
    assert.deepEqual(await responseTo(signedOut.accessToken), expected, `${route}: a token of an ended session`);
  }
  const verified = await app.service.services.verifier.verify(forged(signedIn.accessToken));
  assert.deepEqual(verified, { valid: false, code: 'not_found' });
});

test('after a rotation of the signing keys, a forged token with the old or the new kid is rejected', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const { signingKeys } = app.service.services;
  await signingKeys.rotate(operator, { immediately: false });
  app.clock.advance({ seconds: 601 });
  const answer = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: signedIn.refreshToken } });
  const { accessToken } = answer.json as { accessToken: string };
  await assertAccepted(app, accessToken, 'of the new key');
  await assertAccepted(app, signedIn.accessToken, 'of the old key');
  for (const token of [accessToken, signedIn.accessToken]) await assertRejected(app, forged(token), 'forged');
  await signingKeys.rotate(operator, { immediately: true });
  for (const token of [accessToken, signedIn.accessToken]) await assertRejected(app, token, 'of a revoked key');
});

/** Reads forged tokens of two accounts, and genuine ones of the second account. */
async function twoAccounts(app: TestApp) {
  const [attacker, owner] = [await app.signIn(), await app.signIn()];
  const accessTokens = accessTokensOf(app);
  const { header, payload, sign } = await genuineOf(app, owner);
  const readToken = async (text: string): Promise<UnverifiedToken> => {
    const token = await accessTokens.read(text);
    assert.ok(typeof token === 'object');
    return token;
  };
  return {
    accessTokens,
    forgery: await readToken(forged(attacker.accessToken)),
    forgeryOfOwner: await readToken(forged(owner.accessToken)),
    /** @returns a token of the owner whose signature has not been verified */
    genuine: async (jti: string) => readToken(await sign(header, { ...payload, jti })),
  };
}

test('forged tokens of one account delay another account by a few signatures', async () => {
  await using app = await newApp();
  const { accessTokens, forgery, genuine } = await twoAccounts(app);
  const token = await genuine('one');
  let rejected = 0;
  const flood = Array.from({ length: 1_000 }, async () => {
    assert.equal(await accessTokens.isSignedInTurn(forgery), false);
    rejected++;
  });
  assert.equal(await accessTokens.isSignedInTurn(token), true);
  assert.ok(rejected < 100, `${rejected} forged tokens were rejected first`);
  await Promise.all(flood);
});

test('beyond the bound of waiting signatures, tokens of the account get 503, those of others do not', async () => {
  await using app = await newApp();
  const { accessTokens, forgery, genuine } = await twoAccounts(app);
  const token = await genuine('two');
  const started = limits.signaturesVerifiedMax / 2 + limits.signaturesWaitingPerAccountMax;
  const flood = Promise.allSettled(Array.from({ length: started + 100 }, () => accessTokens.isSignedInTurn(forgery)));
  assert.equal(await accessTokens.isSignedInTurn(token), true);
  const failures = (await flood).flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  assert.equal(failures.length, 100);
  for (const error of failures) assert.ok(error instanceof DomainError && error.code === 'unavailable');
  assert.equal(await accessTokens.isSignedInTurn(forgery), false, 'after the flood');
});

test('beyond the bound of waiting signatures, a token of the account that was verified before is accepted', async () => {
  await using app = await newApp();
  const { accessTokens, forgeryOfOwner, genuine } = await twoAccounts(app);
  const [token, unknown] = [await genuine('before the flood'), await genuine('new')];
  assert.equal(await accessTokens.isSignedInTurn(token), true);
  const started = limits.signaturesVerifiedMax / 2 + limits.signaturesWaitingPerAccountMax;
  const flood = Promise.allSettled(
    Array.from({ length: started + 1 }, () => accessTokens.isSignedInTurn(forgeryOfOwner)),
  );
  // Both start before a signature of the flood is verified.
  const [known, rejected] = [accessTokens.isSignedInTurn(token), accessTokens.isSignedInTurn(unknown)];
  await assert.rejects(rejected, { code: 'unavailable' });
  assert.equal(await known, true);
  await flood;
});

test('the number of remembered signatures is bounded: the oldest is verified again', async () => {
  await using app = await newApp();
  const { accessTokens, genuine } = await twoAccounts(app);
  const first = await genuine('0');
  using verified = countVerifications();
  const countOf = (token: UnverifiedToken): number => {
    const before = verified.count();
    assert.equal(accessTokens.isSigned(token), true);
    return verified.count() - before;
  };
  assert.deepEqual([countOf(first), countOf(first)], [1, 0]);
  for (let number = 1; number < limits.signaturesRememberedMax; number++) countOf(await genuine(`${number}`));
  assert.equal(countOf(first), 0);
  countOf(await genuine('one more'));
  assert.equal(countOf(first), 1);
});
