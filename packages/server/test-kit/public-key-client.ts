/** An API key with a public key, and the assertions of its client. */
import assert from 'node:assert/strict';
import { constants, createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { jwtBearerGrant, type ExchangedSecret } from '@keyreeve/contract';
import { bearer, type Answered, type TestApp } from './new-app.ts';

export type KeyAlgorithm = 'EdDSA' | 'ES256';

export interface KeyPair {
  readonly alg: KeyAlgorithm;
  readonly privateKey: KeyObject;
  /** JWK in canonical form. */
  readonly publicKey: Readonly<Record<string, string>>;
}

export function newKeyPair(alg: KeyAlgorithm = 'EdDSA'): KeyPair {
  const { privateKey, publicKey } =
    alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty = '', crv = '', x = '', y } = publicKey.export({ format: 'jwk' });
  return { alg, privateKey, publicKey: { crv, kty, x, ...(y === undefined ? {} : { y }) } };
}

/** @param creation members of the creation, besides the nickname @returns the id of the key */
export async function newPublicKeyKey(
  app: TestApp,
  accessToken: string,
  { publicKey }: KeyPair,
  creation: object = {},
): Promise<number> {
  const json = { nickname: `public ${randomBytes(6).toString('hex')}`, publicKey, ...creation };
  const created = await app.call('POST', '/auth/api-keys/public', { headers: bearer(accessToken), json });
  assert.equal(created.status, 201, created.text);
  return (created.json as { id: number }).id;
}

const base64url = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** What signs a JWT: a JWS algorithm (RFC 7518, RFC 8037), and its private or secret key. */
export interface JwtSigner {
  readonly alg: string;
  readonly privateKey: KeyObject;
}

/** Signs any header and claims. Text is signed unchanged. */
export function signJwt(signer: JwtSigner, header: object | string, claims: object | string): string {
  const text = `${base64url(header)}.${base64url(claims)}`;
  return `${text}.${signatureOf(signer, Buffer.from(text)).toString('base64url')}`;
}

function signatureOf({ alg, privateKey: key }: JwtSigner, text: Buffer): Buffer {
  const digest = `sha${alg.slice(2)}`;
  if (alg.startsWith('Ed')) return sign(null, text, key);
  if (alg.startsWith('HS')) return createHmac(digest, key).update(text).digest();
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  const pss = alg.startsWith('PS') ? { padding, saltLength } : {};
  return sign(digest, text, { key, dsaEncoding: 'ieee-p1363', ...pss });
}

export interface AssertionParts {
  readonly header?: object;
  readonly claims?: object;
}

/** A valid assertion, with other or further members. `undefined` removes one. */
export function newAssertion(
  app: TestApp,
  pair: KeyPair,
  keyId: number,
  { header, claims }: AssertionParts = {},
): string {
  const iat = Math.floor(app.clock.now() / 1_000);
  const id = String(keyId);
  const times = { iat, exp: iat + 60 };
  const jti = randomBytes(12).toString('hex');
  return signJwt(
    pair,
    { alg: pair.alg, kid: id, ...header },
    { iss: id, sub: id, aud: app.service.publicUrl, jti, ...times, ...claims },
  );
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** @param parameters besides those of a valid request; undefined removes one */
export function exchange(
  app: TestApp,
  assertion: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const all = Object.entries({ grant_type: jwtBearerGrant, assertion, ...parameters });
  const body = new URLSearchParams(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return app.call('POST', '/auth/oauth/token', { headers: { ...form, ...headers }, body: body.toString() });
}

/** @returns a new short-lived secret */
export async function newShortLived(app: TestApp, pair: KeyPair, keyId: number): Promise<string> {
  const answer = await exchange(app, newAssertion(app, pair, keyId));
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as ExchangedSecret).access_token;
}
