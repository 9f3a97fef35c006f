/** Signing keys: every algorithm, rotation without rejected tokens, and rotation that revokes all tokens. */
import assert from 'node:assert/strict';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { replaceSigningKeys, listSigningKeys } from '../store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { basic, bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { newSigningKey } from '../../../../test-kit/rows.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

const fieldsByAlg = {
  ES256: { kty: 'EC', crv: 'P-256', names: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'] },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', names: ['alg', 'crv', 'kid', 'kty', 'use', 'x'] },
  RS256: { kty: 'RSA', crv: undefined, names: ['alg', 'e', 'kid', 'kty', 'n', 'use'] },
} as const;

interface PublicKey {
  readonly kid: string;
  readonly alg: string;
  readonly kty: string;
  readonly crv?: string;
  readonly use: string;
  readonly n?: string;
}

async function published(app: TestApp): Promise<PublicKey[]> {
  const { json } = await app.call('GET', '/.well-known/jwks.json');
  return (json as { keys: PublicKey[] }).keys;
}

const kids = async (app: TestApp): Promise<string[]> => (await published(app)).map(({ kid }) => kid);
const kidOf = (accessToken: string): string | undefined => decodeProtectedHeader(accessToken).kid;
const rotate = async (app: TestApp, immediately: boolean): Promise<string> =>
  (await app.service.services.signingKeys.rotate(operator, { immediately })).kid;

async function states(app: TestApp): Promise<string[]> {
  return (await app.service.services.signingKeys.list()).map(({ state }) => state);
}

async function status(app: TestApp, accessToken: string): Promise<number> {
  const listed = await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });
  const forwarded = await app.call('GET', '/auth/forward', { headers: bearer(accessToken) });
  assert.equal(listed.status, forwarded.status);
  return listed.status;
}

for (const [alg, expected] of Object.entries(fieldsByAlg)) {
  test(
    `${alg} signs and verifies access tokens, and its published key has no private part`,
    { tags: ['asvs:11.2.3', 'asvs:11.6.1'] },
    async () => {
      await using app = await newApp({ environment: { KEYREEVE_JWT_ALG: alg } });
      const { accessToken } = await app.signIn();
      const keys = await published(app);
      assert.equal(keys.length, 1);
      const [key] = keys as [PublicKey];
      assert.deepEqual(Object.keys(key).toSorted(), expected.names);
      assert.deepEqual([key.alg, key.kty, key.crv, key.use], [alg, expected.kty, expected.crv, 'sig']);
      if (alg === 'RS256') assert.equal(Buffer.from(key.n ?? '', 'base64url').length * 8, 3072);
      assert.deepEqual(decodeProtectedHeader(accessToken), { alg, kid: key.kid, typ: 'at+jwt' });
      assert.equal(await status(app, accessToken), 200);
    },
  );
}

test('a new signing key is published ten minutes before it signs, and the old one until its last token has expired', async () => {
  await using app = await newApp();
  const { accessToken: first, refreshToken } = await app.signIn();
  const old = kidOf(first) ?? '';
  const next = await rotate(app, false);
  assert.deepEqual(await kids(app), [old, next]);
  assert.deepEqual(await states(app), ['active', 'next']);

  app.clock.advance({ seconds: 599 });
  const last = await app.signIn();
  assert.equal(kidOf(last.accessToken), old);
  assert.equal(await status(app, last.accessToken), 200);

  app.clock.advance({ seconds: 1 });
  assert.deepEqual(await states(app), ['retired', 'active']);
  const answer = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  const { accessToken: fresh } = answer.json as { accessToken: string };
  assert.equal(kidOf(fresh), next);
  assert.equal(await status(app, fresh), 200);

  // The last token of the old key lives for 600 s, plus 30 s of tolerance.
  app.clock.advance({ seconds: 628 });
  assert.equal(await status(app, last.accessToken), 200);
  app.clock.advance({ seconds: 2 });
  assert.equal(await status(app, last.accessToken), 401);
  assert.deepEqual(await kids(app), [old, next]);
  app.clock.advance({ seconds: 1 });
  assert.deepEqual(await kids(app), [next]);
  assert.deepEqual(await states(app), ['gone', 'active']);
});

test('an immediate rotation invalidates all access tokens, and sessions continue with the new key', async () => {
  await using app = await newApp();
  const { accessToken, refreshToken } = await app.signIn();
  const next = await rotate(app, false);
  assert.equal(await status(app, accessToken), 200);

  const current = await rotate(app, true);
  assert.equal(await status(app, accessToken), 401);
  const answer = await app.call('POST', '/auth/verify', {
    headers: bearer(await app.serviceKey()),
    json: { credential: accessToken },
  });
  assert.deepEqual(answer.json, { valid: false, code: 'not_found' });
  assert.deepEqual(await kids(app), [current]);
  assert.notEqual(current, next);

  const refreshed = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  const { accessToken: fresh } = refreshed.json as { accessToken: string };
  assert.equal(kidOf(fresh), current);
  assert.equal(await status(app, fresh), 200);
  // Neither the old key nor the one that was to follow is used again.
  app.clock.advance({ seconds: 601 });
  assert.deepEqual(await kids(app), [current]);
  assert.equal(kidOf((await app.signIn()).accessToken), current);
});

testOnBoth('the first verifications with a new signing key share the reads of it', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const { verifier } = app.service.services;
  const results = await Promise.all(Array.from({ length: 1_000 }, () => verifier.verify(accessToken)));
  assert.ok(results.every(({ valid }) => valid));
});

/** Signs the claims of a token with the current key, as a thief of that key could. */
async function newForger(app: TestApp, accessToken: string) {
  const { key, kid, alg } = await app.service.services.signingKeys.signer();
  const claims = decodeJwt(accessToken);
  return (issuedAt: number, lifeSeconds = 600): Promise<string> =>
    new SignJWT({ ...claims, iat: issuedAt, exp: issuedAt + lifeSeconds })
      .setProtectedHeader({ alg, kid, typ: 'at+jwt' })
      .sign(key);
}

test('a token that a retired key signs is rejected, with 30 seconds of tolerance', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const forge = await newForger(app, accessToken);
  await rotate(app, false);
  const retiredAt = app.clock.now() / 1000 + 600;
  app.clock.advance({ seconds: 600 });
  assert.deepEqual(await states(app), ['retired', 'active']);
  assert.equal(await status(app, await forge(retiredAt - 1)), 200);
  assert.equal(await status(app, await forge(retiredAt + 30)), 200);
  const serviceKey = bearer(await app.serviceKey());
  for (const token of [await forge(retiredAt + 30.001), await forge(retiredAt + 31)]) {
    app.clock.advance({ seconds: 1 });
    assert.equal(await status(app, token), 401);
    const verified = await app.call('POST', '/auth/verify', { headers: serviceKey, json: { credential: token } });
    assert.deepEqual(verified.json, { valid: false, code: 'malformed' });
    const introspected = await app.call('POST', '/auth/introspect', {
      headers: { ...serviceKey, 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${token}`,
    });
    assert.deepEqual(introspected.json, { active: false });
  }
});

test('a token that a key signs before its activation is rejected, with 30 seconds of tolerance', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const next = await rotate(app, false);
  app.clock.advance({ seconds: 600 });
  const { kid, key } = await app.service.services.signingKeys.signer();
  assert.equal(kid, next);
  app.clock.advance({ seconds: -600 });
  const forge = (): Promise<string> =>
    new SignJWT({ ...decodeJwt(accessToken), iat: app.clock.now() / 1000, exp: app.clock.now() / 1000 + 600 })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
      .sign(key);
  assert.equal(await status(app, await forge()), 401);
  app.clock.advance({ seconds: 569 });
  assert.equal(await status(app, await forge()), 401);
  app.clock.advance({ seconds: 1 });
  assert.equal(await status(app, await forge()), 200);
});

test('instances whose clocks differ by 30 seconds accept each other’s tokens, also during a rotation', async () => {
  await using place = await newPlace();
  const environment = { KEYREEVE_PUBLIC_URL: 'http://localhost:1' };
  await using one = await newApp({ place, environment });
  await using other = await newApp({ place, environment });
  await rotate(one, false);
  one.clock.advance({ seconds: 540 });
  other.clock.advance({ seconds: 510 });
  for (let step = 0; step < 10; step++) {
    const [ahead, behind] = [await one.signIn(`a${step}@example.com`), await other.signIn(`b${step}@example.com`)];
    assert.equal(await status(other, ahead.accessToken), 200, `clock ahead, step ${step}`);
    assert.equal(await status(one, behind.accessToken), 200, `clock behind, step ${step}`);
    one.clock.advance({ seconds: 10 });
    other.clock.advance({ seconds: 10 });
  }
});

test('sign-ins and refreshes work when the clock is behind the creation of the only key', async () => {
  await using app = await newApp();
  const only = await rotate(app, true);
  app.clock.advance({ seconds: -86_400 });
  assert.deepEqual(await kids(app), [only]);
  const { accessToken, refreshToken } = await app.signIn();
  assert.equal(kidOf(accessToken), only);
  assert.equal(await status(app, accessToken), 200);
  const refreshed = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal(refreshed.status, 200, refreshed.text);
  // When none of several keys is active yet, the newest signs.
  app.clock.advance({ seconds: 86_400 });
  const newest = await rotate(app, false);
  app.clock.advance({ seconds: -10 });
  const last = await app.signIn();
  assert.equal(kidOf(last.accessToken), newest);
  assert.equal(await status(app, last.accessToken), 200);
  app.clock.advance({ seconds: 30 });
  assert.equal(await status(app, last.accessToken), 200, 'clock 30 seconds ahead');
  assert.equal(kidOf((await app.signIn()).accessToken), only);
});

test('without a signing key a sign-in and a refresh return 503 and change nothing', async () => {
  await using app = await newApp();
  const { accessToken, account, refreshToken } = await app.signIn();
  const before = await listAuditEvents(app.db);
  await replaceSigningKeys(app.db, operator, newSigningKey('another', { alg: 'EdDSA' }));
  const signIn = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  const refresh = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  for (const answer of [signIn, refresh]) assertProblem(fromFetch(answer), 'unavailable');
  assert.equal(await status(app, accessToken), 401);
  const actions = (await listAuditEvents(app.db)).slice(before.length).map(({ action }) => action);
  assert.deepEqual(actions, ['signing_key.created', 'signing_key.revoked']);
  const next = await rotate(app, true);
  const refreshed = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal(kidOf((refreshed.json as { accessToken: string }).accessToken), next);
});

test('a token whose key is no longer published is rejected, whatever expiry it has', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const forge = await newForger(app, accessToken);
  await rotate(app, false);
  const longLived = await forge(app.clock.now() / 1000, 86_400);
  app.clock.advance({ seconds: 600 + 630 });
  assert.deepEqual(await states(app), ['retired', 'active']);
  assert.equal(await status(app, longLived), 200);
  app.clock.advance({ seconds: 1 });
  assert.deepEqual(await states(app), ['gone', 'active']);
  assert.equal(await status(app, longLived), 401);
  assert.equal(await status(app, (await app.signIn()).accessToken), 200);
});

test('a key that was revoked before its activation retires no other key', async () => {
  await using app = await newApp();
  await rotate(app, false);
  const revoked = await rotate(app, true);
  assert.deepEqual(await kids(app), [revoked]);
  const { accessToken } = await app.signIn();
  const forge = await newForger(app, accessToken);
  app.clock.advance({ seconds: 6000 });
  assert.equal(await status(app, await forge(app.clock.now() / 1000)), 200);
});

test(
  'after a return to an earlier algorithm the earlier key signs and verifies',
  { tags: ['asvs:9.1.2', 'asvs:11.2.2'] },
  async () => {
    const clock = new FakeClock();
    await using place = await newPlace();
    const environment = (alg: string) => ({ KEYREEVE_JWT_ALG: alg });
    let es: string | undefined;
    {
      await using app = await newApp({ environment: environment('ES256'), clock, place });
      es = kidOf((await app.signIn('one@example.com')).accessToken);
    }
    clock.advance({ days: 1 });
    {
      await using app = await newApp({ environment: environment('EdDSA'), clock, place });
      assert.notEqual(kidOf((await app.signIn('two@example.com')).accessToken), es);
    }
    clock.advance({ days: 1 });
    await using app = await newApp({ environment: environment('ES256'), clock, place });
    const { accessToken } = await app.signIn('three@example.com');
    assert.equal(kidOf(accessToken), es);
    assert.equal(await status(app, accessToken), 200);
    const next = await rotate(app, false);
    app.clock.advance({ seconds: 599 });
    const last = await app.signIn('four@example.com');
    app.clock.advance({ seconds: 2 });
    assert.equal(await status(app, last.accessToken), 200);
    assert.ok((await kids(app)).includes(es ?? ''), 'its last token is still valid');
    assert.equal(kidOf((await app.signIn('five@example.com')).accessToken), next);
  },
);

test('the database contains no private key in clear', { tags: ['asvs:13.3.1'] }, async () => {
  await using app = await newApp();
  await rotate(app, false);
  for (const { publicJwk, privateJwk } of await listSigningKeys(app.db)) {
    assert.deepEqual(Object.keys(JSON.parse(publicJwk) as object).toSorted(), ['crv', 'kty', 'x', 'y']);
    assert.doesNotMatch(Buffer.from(privateJwk).toString('latin1'), /"d"|kty/);
  }
});
