/** What bad identity tokens cost: no signature for those that a read can reject, and no other account its exchange. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newIssuerKey, type TokenOptions } from '../../../../test-kit/identity-issuer.ts';
import { addIssuer } from '../../../../test-kit/issuers.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import { exchangeToken, newTrustedKey, secretOf } from '../../../../test-kit/trusted-key.ts';
import { until } from '../../../../test-kit/until.ts';

const floodClients = 48;
const exchanges = 20;

test('a token is rejected before its signature, and before the JWK set is fetched, if a read can reject it', async () => {
  await using at = await newTrustedKey();
  await addIssuer(at.app.db, { url: 'https://other.example.com' });
  const rejected: readonly TokenOptions[] = [
    { claims: { padding: 'a'.repeat(limits.identityTokenBytesMax) } },
    { claims: { iss: 'https://unknown.example.com' } },
    // Declared, but the key does not trust it.
    { claims: { iss: 'https://other.example.com' } },
    { audience: 'https://other.example.com' },
    { claims: { aud: [at.app.service.publicUrl, 'https://other.example.com'] } },
    { header: { alg: 'RS256' } },
    { header: { alg: 'HS256' } },
    { header: { alg: 'none' } },
    { header: { crit: ['exp'] } },
    { now: at.clock.now() - 3_600_000 },
    { now: at.clock.now() + 3_600_000 },
    { claims: { exp: at.clock.now() / 1_000 + 3_601 } },
    { claims: { jti: undefined } },
  ];
  for (const options of rejected)
    assert.equal((await at.exchange(at.token(options))).status, 400, JSON.stringify(options));
  assert.equal((await at.exchange(at.token(), at.keyId + 1)).status, 400, 'an unknown key');
  const { identityTokens, keySets } = at.app.service.services;
  assert.deepEqual(
    [identityTokens.counts, keySets.counts],
    [
      { valid: 0, invalid: 0 },
      { fetched: 0, failed: 0 },
    ],
  );
  assert.deepEqual(at.issuer.requests, []);
});

test('during a flood of tokens with wrong signatures, another account exchanges its tokens, and its secrets are valid', async () => {
  await using at = await newTrustedKey({
    issuer: { replay: 'until-exp' },
    environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' },
  });
  const { app } = at;
  const other = await app.signIn();
  const trust = { issuer: at.issuer.url, claims: { repository_id: '4711' } };
  const json = { nickname: 'other', trust };
  const created = await app.call('POST', '/auth/api-keys/public', { headers: bearer(other.accessToken), json });
  const { id: keyId } = created.json as { id: number };
  const forged = at.token({ signer: { ...newIssuerKey('ES256'), kid: at.issuer.keys[0]?.kid ?? '' } });
  const { counts } = app.service.services.identityTokens;
  const over = new AbortController();
  const statuses = new Set<number>();
  const flood = Array.from({ length: floodClients }, async (_, index) => {
    while (!over.signal.aborted)
      statuses.add((await exchangeToken(app, at.keyId, forged, `2001:db8::${index}`)).status);
  });
  try {
    await until('the flood has begun', () => counts.invalid > floodClients);
    for (let count = 0; count < exchanges; count++) {
      const before = counts.invalid;
      const secret = secretOf(await exchangeToken(app, keyId, at.token(), '198.51.100.1'));
      assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status, 200);
      await until('the flood continues', () => counts.invalid > before);
    }
  } finally {
    over.abort();
    await Promise.all(flood);
  }
  assert.equal(counts.valid, exchanges);
  for (const status of statuses) assert.ok(status === 400 || status === 429, String(status));
});
