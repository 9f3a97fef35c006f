/** Compares the verification of access tokens with `jwtVerify` of the library `jose`. */
import assert from 'node:assert/strict';
import { KeyObject } from 'node:crypto';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import { newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import type { AccessTokens } from '../access-token.ts';
import { accessTokensOf, genuineOf } from './genuine-token.ts';
import { strictnesses, variantsOf } from './token-variants.ts';

type Decision = 'accepted' | 'expired' | 'rejected';

for (const alg of ['ES256', 'EdDSA', 'RS256'] as const)
  test(`of thousands of variants of a token with ${alg}, the same are accepted as by jose, except those with a named reason`, async () => {
    await using app = await newApp({ environment: { KEYREEVE_JWT_ALG: alg } });
    const { publicUrl: issuer, services } = app.service;
    const { signingKeys } = services;
    const { header, payload } = await genuineOf(app, await app.signIn());
    const { key } = await signingKeys.signer();
    const { keys } = await signingKeys.jwks();
    const verifier = await signingKeys.verifier(header['kid']);
    assert.ok(verifier);
    const now = Math.floor(app.clock.now() / 1000);
    const original = {
      header,
      payload,
      privateKey: KeyObject.from(key),
      publicKey: verifier.key.export({ type: 'spki', format: 'pem' }),
      now,
    };
    const accessTokens = accessTokensOf(app);
    const byJose = joseWith(keys, { alg, issuer, now });

    const tally: Record<Decision, number> = { accepted: 0, expired: 0, rejected: 0 };
    const unmet = new Set<string>(alg === 'ES256' ? strictnesses : []);
    for (const { what, token, stricter } of variantsOf(original)) {
      const expected = await byJose(token);
      const decision = await decide(accessTokens, token);
      tally[expected]++;
      if (expected === 'rejected') assert.notEqual(decision, 'accepted', what);
      else if (stricter === undefined) assert.equal(decision, expected, what);
      else {
        assert.equal(decision, 'rejected', `${what}: ${stricter}`);
        if (expected === 'accepted') unmet.delete(stricter);
      }
    }
    assert.deepEqual([...unmet], [], 'jose accepts a variant for each reason');
    assert.ok(tally.accepted > 500 && tally.expired > 15 && tally.rejected > 2_000, JSON.stringify(tally));
  });

type Keys = Parameters<typeof createLocalJWKSet>[0]['keys'];

function joseWith(keys: Keys, expected: { readonly alg: string; readonly issuer: string; readonly now: number }) {
  const keyOf = createLocalJWKSet({ keys });
  const options = {
    algorithms: [expected.alg],
    typ: 'at+jwt',
    issuer: expected.issuer,
    audience: expected.issuer,
    clockTolerance: 30,
    requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
    currentDate: new Date(expected.now * 1000),
  };
  return async (token: string): Promise<Decision> => {
    try {
      await jwtVerify(token, keyOf, options);
      return 'accepted';
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'expired';
      if (error instanceof errors.JOSEError) return 'rejected';
      throw error;
    }
  };
}

/** Both ways to verify a signature must have the same result. */
async function decide(accessTokens: AccessTokens, text: string): Promise<Decision> {
  const token = await accessTokens.read(text);
  if (token === undefined) return 'rejected';
  if (token === 'expired') return 'expired';
  const isSigned = accessTokens.isSigned(token);
  assert.equal(await accessTokens.isSignedInTurn(token), isSigned);
  return isSigned ? 'accepted' : 'rejected';
}
