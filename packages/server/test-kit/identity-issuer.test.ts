/** Tokens of the issuer of tests verify with an independent library, by the JWK set that its discovery document names. */
import assert from 'node:assert/strict';
import { get } from 'node:https';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { tokenShapes, type ShapeName } from './identity-claims.ts';
import { newIdentityIssuer, newIssuerKey, type IssuerAlgorithm } from './identity-issuer.ts';
import { tls } from './tls.ts';

const read = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    get(url, { ca: tls.cert, agent: false }, (response) => resolve(json(response))).on('error', reject);
  });

test('each token verifies with a key of the JWK set, and not after the removal of the key', async () => {
  const audience = 'https://auth.example.com';
  await using issuer = await newIdentityIssuer({ path: '/org/1', audience });
  const readKeys = async () => {
    const document = (await read(`${issuer.url}/.well-known/openid-configuration`)) as Record<string, string>;
    assert.equal(document['issuer'], issuer.url);
    return createLocalJWKSet((await read(document['jwks_uri'] ?? '')) as JSONWebKeySet);
  };
  const options = { issuer: issuer.url, audience };
  for (const name of Object.keys(tokenShapes) as ShapeName[]) {
    const { payload } = await jwtVerify(issuer.token(name), await readKeys(), options);
    assert.equal(typeof payload.sub, 'string', name);
  }
  const algorithms: IssuerAlgorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'];
  for (const alg of algorithms) {
    const key = issuer.rotate(newIssuerKey(alg));
    const { protectedHeader } = await jwtVerify(issuer.token('github'), await readKeys(), options);
    assert.equal(protectedHeader.alg, alg);
    issuer.remove(key);
    const removed = jwtVerify(issuer.token('github', { signer: key }), await readKeys(), options);
    await assert.rejects(removed, { code: 'ERR_JWKS_NO_MATCHING_KEY' });
  }
});
