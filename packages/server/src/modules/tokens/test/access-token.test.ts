/** Claims of access tokens: those of a new one, and the rejection of wrong and expired ones (RFC 8725, RFC 9068). */
import assert from 'node:assert/strict';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertAccepted, assertRejected, decode, genuineOf, type Fields } from './genuine-token.ts';

test('an access token has exactly the claims of RFC 9068', { tags: ['asvs:9.2.4', 'asvs:10.3.3'] }, async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const [header, payload] = accessToken.split('.');
  const [{ kid } = { kid: '' }] = await app.service.services.signingKeys.list();
  assert.deepEqual(decode(header), { alg: 'ES256', kid, typ: 'at+jwt' });
  const { sid, jti, ...claims } = decode(payload);
  const now = app.clock.now() / 1000;
  assert.deepEqual(claims, {
    iss: app.service.publicUrl,
    aud: app.service.publicUrl,
    sub: account.id,
    client_id: 'keyreeve',
    auth_time: now,
    iat: now,
    exp: now + 600,
  });
  assert.match(String(sid), /^ses_[0-9A-Za-z]{22}$/);
  assert.match(String(jti), /^[0-9A-Za-z]{22}$/);

  app.clock.advance({ seconds: 400 });
  const answer = await app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  const [, later] = (answer.json as { accessToken: string }).accessToken.split('.');
  const { jti: nextJti, ...next } = decode(later);
  assert.notEqual(nextJti, jti);
  assert.deepEqual(next, { ...claims, sid, iat: now + 400, exp: now + 1000 });
});

test('issuer, audience and lifetime are those of the configuration', { tags: ['asvs:9.2.4'] }, async () => {
  const environment = {
    KEYREEVE_PUBLIC_URL: 'https://auth.example.com',
    KEYREEVE_TRUSTED_PROXIES: '10.0.0.1',
    KEYREEVE_AUDIENCE: 'orders',
    KEYREEVE_ACCESS_TOKEN_TTL_SECONDS: '60',
  };
  await using app = await newApp({ environment });
  const signedIn = await app.signIn();
  const { header, payload, sign: signed } = await genuineOf(app, signedIn);
  const { iss, aud, iat, exp } = payload;
  assert.deepEqual(
    { iss, aud, lifetime: Number(exp) - Number(iat) },
    { iss: 'https://auth.example.com', aud: 'orders', lifetime: 60 },
  );
  await assertAccepted(app, signedIn.accessToken, 'unchanged');
  await assertRejected(app, await signed(header, { ...payload, aud: iss }), 'issuer as audience');
});

/** Changes of the claims. All are signed with the right key. */
function wrongClaims({ iss, aud, sub, sid, iat, exp }: Fields, now: number): readonly (readonly [string, Fields])[] {
  return [
    ['no iss', { iss: undefined }],
    ['another iss', { iss: 'https://evil.example' }],
    ['iss with a slash', { iss: `${String(iss)}/` }],
    ['iss in another case', { iss: String(iss).toUpperCase() }],
    ['iss as a list', { iss: [iss] }],
    ['no aud', { aud: undefined }],
    ['another aud', { aud: 'https://api.example' }],
    ['a list without our aud', { aud: ['https://api.example'] }],
    ['an empty list as aud', { aud: [] }],
    ['a longer aud', { aud: `${String(aud)}.evil.example` }],
    ['no sub', { sub: undefined }],
    ['sub as a list', { sub: [sub] }],
    ['another account as sub', { sub: 'acc_0000000000000000000000' }],
    ['no sid', { sid: undefined }],
    ['sid as an object', { sid: { sid } }],
    ['an unknown session', { sid: 'ses_0000000000000000000000' }],
    ['SQL as sid', { sid: `' or 1=1 --` }],
    ['no iat', { iat: undefined }],
    ['iat as text', { iat: String(iat) }],
    ['iat 31 s in the future', { iat: now + 31 }],
    ['no exp', { exp: undefined }],
    ['exp as text', { exp: String(exp) }],
    ['exp null', { exp: null }],
    ['exp with a fraction', { exp: Number(exp) + 0.5 }],
    ['exp beyond the safe integers', { exp: Number.MAX_SAFE_INTEGER + 1 }],
    ['exp beyond every date', { exp: Number.MAX_SAFE_INTEGER }],
    ['exp of 300 digits', { exp: 1e300 }],
    ['iat with a fraction', { iat: Number(iat) - 0.5 }],
    ['iat before 1970', { iat: -1 }],
    ['exp 30 s ago', { exp: now - 30 }],
    ['exp a year ago', { exp: now - 31_536_000 }],
    ['nbf 31 s in the future', { nbf: now + 31 }],
    ['nbf as text', { nbf: 'now' }],
  ];
}

test(
  'a token with a wrong claim is rejected, although the right key signed it',
  { tags: ['asvs:9.2.3', 'asvs:10.3.1'] },
  async () => {
    await using app = await newApp();
    const signedIn = await app.signIn();
    const { header, payload, sign: signed } = await genuineOf(app, signedIn);
    await assertAccepted(app, await signed(header, payload), 'unchanged');
    for (const [what, change] of wrongClaims(payload, app.clock.now() / 1000)) {
      await assertRejected(app, await signed(header, { ...payload, ...change }), what);
    }
    await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
  },
);

test('a signed token with an unusable exp is malformed and fails no other credential of its batch', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const { header, payload, sign: signed } = await genuineOf(app, signedIn);
  const headers = bearer(await app.serviceKey());
  for (const exp of [1e300, Number.MAX_SAFE_INTEGER, 253_402_300_800]) {
    const credential = await signed(header, { ...payload, exp });
    const one = await app.call('POST', '/auth/verify', { headers, json: { credential } });
    assert.deepEqual([one.status, one.json], [200, { valid: false, code: 'malformed' }], String(exp));
    const json = { credentials: [credential, signedIn.accessToken] };
    const many = await app.call('POST', '/auth/verify/batch', { headers, json });
    assert.equal(many.status, 200, String(exp));
    const { results } = many.json as { results: { valid: boolean }[] };
    assert.deepEqual(
      results.map(({ valid }) => valid),
      [false, true],
    );
  }
  const latest = await signed(header, { ...payload, exp: 253_402_300_799 });
  const answer = await app.call('POST', '/auth/verify', { headers, json: { credential: latest } });
  assert.equal((answer.json as { expiresAt: string }).expiresAt, '9999-12-31T23:59:59.000Z');
});

test('the times of a token are checked with a tolerance of 30 seconds', { tags: ['asvs:9.2.1'] }, async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const { header, payload, sign: signed } = await genuineOf(app, signedIn);
  const now = app.clock.now() / 1000;
  const within: readonly Fields[] = [
    { exp: now - 29 },
    { iat: now + 30 },
    { nbf: now + 30 },
    { aud: ['x', payload['aud']] },
  ];
  for (const change of within)
    await assertAccepted(app, await signed(header, { ...payload, ...change }), JSON.stringify(change));

  app.clock.advance({ seconds: 629 });
  await assertAccepted(app, signedIn.accessToken, '29 s after its expiry');
  app.clock.advance({ seconds: 1 });
  await assertRejected(app, signedIn.accessToken, '30 s after its expiry');
  const answer = await app.call('POST', '/auth/verify', {
    headers: bearer(await app.serviceKey()),
    json: { credential: signedIn.accessToken },
  });
  assert.deepEqual(answer.json, { valid: false, code: 'expired' });
});

test(
  'a token with one account and the session of another is rejected',
  { tags: ['asvs:2.2.3', 'asvs:10.3.2'] },
  async () => {
    await using app = await newApp();
    const one = await app.signIn();
    const two = await app.signIn();
    const { header, payload, sign: signed } = await genuineOf(app, one);
    await assertRejected(app, await signed(header, { ...payload, sub: two.account.id }), 'mixed');
  },
);
