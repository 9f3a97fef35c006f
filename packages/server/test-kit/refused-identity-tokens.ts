/**
 * Identity tokens that must be refused by a service that has two issuers with two keys each, RS256 and ES256. It accepts tokens
 * of the first one with these two algorithms, for an hour at most and once by their `jti`, if `repository_id` is "4711". Each token
 * differs in one respect from an accepted one.
 */
import { createPublicKey, createSecretKey, sign } from 'node:crypto';
import { newIssuerKey, type IdentityIssuer, type IssuerKey, type TokenOptions } from './identity-issuer.ts';

export interface RefusedTokensOf {
  readonly issuer: IdentityIssuer;
  readonly other: IdentityIssuer;
  /** Of accepted tokens. */
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type RefusedToken = readonly [what: string, token: string];

/** The key of each algorithm that the first issuer has. */
const keyOf = ({ keys }: IdentityIssuer, alg: string): IssuerKey => {
  const found = keys.find((key) => key.alg === alg);
  if (!found) throw new Error(`The issuer has no key for ${alg}.`);
  return found;
};

export function refusedTokens({ issuer, other, audience, now }: RefusedTokensOf): RefusedToken[] {
  const [rsa, ec, otherRsa] = [keyOf(issuer, 'RS256'), keyOf(issuer, 'ES256'), keyOf(other, 'RS256')];
  const seconds = Math.floor(now / 1_000);
  const make = (options: TokenOptions = {}): string =>
    issuer.token('github', { audience, now, signer: rsa, ...options });
  const withHeader = (header: object, signer = rsa): string =>
    make({ header: header as Record<string, unknown>, signer });
  const withClaims = (claims: object): string => make({ claims: claims as Record<string, unknown> });
  const good = make();
  const [header = '', payload = '', signature = ''] = good.split('.');
  const text = Buffer.from(payload, 'base64url').toString();
  const decoded = JSON.parse(text) as Record<string, unknown>;
  /** Signs the claims as text, in which `from` is replaced. */
  const withText = (from: string, to: string): string => make({ claims: text.replace(from, to) });
  // It has a character that base64url writes differently.
  const inBase64 = Buffer.from(`{"alg":"RS256","kid":"${rsa.kid}","typ":"~~~~~~"}`)
    .toString('base64')
    .replace(/=+$/, '');
  return [
    ...ofAlgorithms(make, { rsa, ec, good }),
    ...ofKeys(withHeader, { issuer, other, otherRsa, make }),
    ...ofIssuerAndAudience(withClaims, { issuer, other, audience }),
    ...ofTimes(withClaims, seconds),
    ['exp is an infinite number', withText(`"exp":${String(decoded['exp'])}`, '"exp":1e400')],
    ['a claim occurs twice', withText('{', '{"repository_id":"1",')],
    ['the audience occurs twice', withText('{', `{"aud":"https://other.example.com",`)],
    ['the issuer occurs twice', withText('{', `{"iss":"${other.url}",`)],
    ['a claim occurs twice, once with an escaped name', withText('{', String.raw`{"repository\u005fid":"1",`)],
    ['a member reaches the prototype', withText('{', '{"__proto__":{"a":1},')],
    ['the claims are a list', make({ claims: `[${text}]` })],
    ['the claims are not JSON', make({ claims: text.slice(1) })],
    ['the claims have a byte order mark', make({ claims: `\uFEFF${text}` })],
    ['the claims are nested too deeply', withText('{', `{"x":${'['.repeat(20)}${']'.repeat(20)},`)],
    [
      'the claims are not UTF-8',
      signed(
        rsa,
        `${header}.${encode(Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from(',"x":"\u00ff"}', 'latin1')]))}`,
      ),
    ],
    ['jti is missing, and each token is accepted once', withClaims({ jti: undefined })],
    ['jti is a number', withClaims({ jti: 1 })],
    ['jti is empty', withClaims({ jti: '' })],
    ['sub is a number', withClaims({ sub: 4711 })],
    ['sub has a control character', withClaims({ sub: 'repo:a\u0000b' })],
    ['the id is another one, and the name is the same', withClaims({ repository_id: '4712' })],
    ['the id is missing, and the name is the same', withClaims({ repository_id: undefined })],
    ['the id is a number instead of a text', withClaims({ repository_id: 4711 })],
    ['the id is in a list', withClaims({ repository_id: ['4711'] })],
    ['the id is in an object', withClaims({ repository_id: { '4711': true } })],
    ['the claim was changed after the signature', `${header}.${encode({ ...decoded, actor: 'mallory' })}.${signature}`],
    ['the signature is missing', `${header}.${payload}.`],
    ['the signature is cut', `${header}.${payload}.${signature.slice(0, -4)}`],
    ['the signature has padding', `${good}==`],
    ['the claims have padding', signed(rsa, `${header}.${encode(JSON.stringify({ ...decoded, x: '' }))}=`)],
    ['the last character of the signature has unused bits', withUnusedBits(good)],
    ['the header is in base64 instead of base64url', signed(rsa, `${inBase64}.${payload}`)],
    ['a space is at its start', ` ${good}`],
    ['a line end is at its end', `${good}\n`],
    ['a line end is in the claims', `${header}.${payload.slice(0, 8)}\n${payload.slice(8)}.${signature}`],
    ['it has two parts', `${header}.${payload}`],
    ['it has four parts', `${good}.${signature}`],
    ['it has five parts, like an encrypted one', `${header}..${payload}.${signature}.${signature}`],
    ['it is in the JSON serialization', JSON.stringify({ payload, protected: header, signature })],
    ['it is too long', withClaims({ padding: 'a'.repeat(12_288) })],
  ];
}

type Make = (options?: TokenOptions) => string;

function ofAlgorithms(
  make: Make,
  { rsa, ec, good }: { readonly rsa: IssuerKey; readonly ec: IssuerKey; readonly good: string },
): RefusedToken[] {
  const [, payload = ''] = good.split('.');
  const unsigned = (alg: string): string => `${encode({ alg, kid: rsa.kid, typ: 'JWT' })}.${payload}.`;
  const { kty, n = '', e } = rsa.jwk as Record<string, string>;
  const hmac = (secret: string | Buffer) => ({ alg: 'HS256', privateKey: createSecretKey(Buffer.from(secret)) });
  const asHmac = (secret: string | Buffer): string =>
    make({ header: { alg: 'HS256', kid: rsa.kid }, signer: hmac(secret) });
  return [
    ['alg is none', unsigned('none')],
    ['alg is None', unsigned('None')],
    ['alg is HS256, with the public key in PEM as secret', asHmac(pemOf(rsa))],
    ['alg is HS256, with the modulus as secret', asHmac(Buffer.from(n, 'base64url'))],
    ['alg is HS256, with the JWK as secret', asHmac(JSON.stringify({ kty, n, e }))],
    [
      'alg fits the key, and is not declared: RS384',
      make({ signer: { ...rsa, alg: 'RS384' }, header: { alg: 'RS384' } }),
    ],
    [
      'alg fits the key, and is not declared: PS256',
      make({ signer: { ...rsa, alg: 'PS256' }, header: { alg: 'PS256' } }),
    ],
    ['alg is ES256, and the key is that of RS256', make({ header: { alg: 'ES256', kid: rsa.kid } })],
    ['alg is RS256, and the key is that of ES256', make({ signer: ec, header: { alg: 'RS256', kid: ec.kid } })],
    [
      'alg is RS256, and the signature is that of RS512',
      make({ signer: { ...rsa, alg: 'RS512' }, header: { alg: 'RS256' } }),
    ],
    ['alg is in small letters', make({ header: { alg: 'rs256' } })],
    ['alg is missing', make({ header: { alg: undefined } })],
    ['alg is a list', make({ header: { alg: ['RS256'] } })],
    ['alg occurs twice', make({ header: `{"alg":"none","alg":"RS256","kid":"${rsa.kid}"}` })],
    ['the signature of ES256 is in DER', signedInDer(ec, `${encode({ alg: 'ES256', kid: ec.kid })}.${payload}`)],
    ['crit names an unknown extension', make({ header: { crit: ['x'], x: 1 } })],
    ['crit names a claim', make({ header: { crit: ['exp'], exp: 4_000_000_000 } })],
    ['the payload is not encoded', make({ header: { crit: ['b64'], b64: false } })],
    ['crit is empty', make({ header: { crit: [] } })],
  ];
}

function ofKeys(
  withHeader: (header: object, signer?: IssuerKey) => string,
  at: Pick<RefusedTokensOf, 'issuer' | 'other'> & { readonly otherRsa: IssuerKey; readonly make: Make },
): RefusedToken[] {
  const { other, otherRsa, make } = at;
  const stranger = newIssuerKey('RS256', 'stranger');
  const { kid } = keyOf(at.issuer, 'RS256');
  return [
    ['kid is that of another issuer, which signed it', withHeader({ kid: otherRsa.kid }, otherRsa)],
    ['kid is the right one, and another issuer signed it', withHeader({ kid }, otherRsa)],
    ['kid is that of another issuer', withHeader({ kid: otherRsa.kid })],
    ['kid is the right one, and a stranger signed it', withHeader({ kid }, stranger)],
    ['kid is unknown', withHeader({ kid: 'unknown' }, stranger)],
    ['kid is a path', withHeader({ kid: '../../../etc/passwd' }, stranger)],
    ['kid is missing, and the set has several keys', withHeader({ kid: undefined })],
    ['kid is a number', withHeader({ kid: 1 })],
    ['kid is a list', withHeader({ kid: [kid] })],
    ['the header has the key that signed it', withHeader({ kid: 'stranger', jwk: stranger.jwk }, stranger)],
    ['the header has the key that signed it, and the right kid', withHeader({ kid, jwk: stranger.jwk }, stranger)],
    [
      'the header has the URL of a set with the key',
      withHeader({ kid: otherRsa.kid, jku: `${other.url}/jwks` }, otherRsa),
    ],
    ['the header has the URL of a certificate', withHeader({ kid: 'stranger', x5u: `${other.url}/x5u` }, stranger)],
    ['the header has a certificate chain', withHeader({ kid: 'stranger', x5c: ['MIIB'] }, stranger)],
    ['the header is a list', make({ header: '[]' })],
    ['another issuer made it', other.token('github', { audience: other.audience })],
  ];
}

function ofIssuerAndAudience(
  withClaims: (claims: object) => string,
  { issuer, other, audience }: Pick<RefusedTokensOf, 'issuer' | 'other' | 'audience'>,
): RefusedToken[] {
  return [
    ['iss is another issuer', withClaims({ iss: other.url })],
    ['iss ends with a slash', withClaims({ iss: `${issuer.url}/` })],
    ['iss is in capital letters', withClaims({ iss: issuer.url.toUpperCase() })],
    ['iss is missing', withClaims({ iss: undefined })],
    ['iss is a list', withClaims({ iss: [issuer.url] })],
    ['aud is another service', withClaims({ aud: 'https://other.example.com' })],
    ['aud ends with a slash', withClaims({ aud: `${audience}/` })],
    ['aud is in capital letters', withClaims({ aud: audience.toUpperCase() })],
    ['aud is missing', withClaims({ aud: undefined })],
    ['aud is empty', withClaims({ aud: [] })],
    ['aud has a second audience', withClaims({ aud: [audience, 'https://other.example.com'] })],
    ['aud has the audience twice', withClaims({ aud: [audience, audience] })],
    ['aud is a list in a list', withClaims({ aud: [[audience]] })],
    ['aud is an object', withClaims({ aud: { [audience]: true } })],
  ];
}

function ofTimes(withClaims: (claims: object) => string, seconds: number): RefusedToken[] {
  const day = 86_400;
  return [
    ['it has expired', withClaims({ iat: seconds - 400, nbf: seconds - 400, exp: seconds - 61 })],
    ['exp is missing', withClaims({ exp: undefined })],
    ['exp is a text', withClaims({ exp: String(seconds + 300) })],
    ['exp is null', withClaims({ exp: null })],
    ['exp is in milliseconds', withClaims({ exp: (seconds + 300) * 1_000 })],
    ['exp is before iat', withClaims({ iat: seconds, exp: seconds - 1 })],
    ['it lives for longer than the issuer’s tokens', withClaims({ iat: seconds, exp: seconds + 3_601 })],
    ['it lives for a day, of which an hour remains', withClaims({ iat: seconds - day, exp: seconds + 60 })],
    ['iat is missing', withClaims({ iat: undefined })],
    ['iat is a text', withClaims({ iat: String(seconds) })],
    ['iat is negative', withClaims({ iat: -1 })],
    ['it was issued in the future', withClaims({ iat: seconds + 120, exp: seconds + 300 })],
    ['it is not valid yet', withClaims({ nbf: seconds + 120 })],
    ['nbf is a text', withClaims({ nbf: String(seconds) })],
    ['nbf is true', withClaims({ nbf: true })],
  ];
}

const encode = (value: object | string): string =>
  (Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))).toString(
    'base64url',
  );

/** A token with these two parts, also if they are not canonical. */
const signed = ({ privateKey }: IssuerKey, text: string): string =>
  `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;

/** As {@link signed} by ECDSA, with the signature in DER (RFC 3279) instead of the form of RFC 7518 section 3.4. */
const signedInDer = ({ privateKey }: IssuerKey, text: string): string =>
  `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'der' }).toString('base64url')}`;

const pemOf = ({ jwk }: IssuerKey): string =>
  createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });

/** The last character of 256 bytes in base64url has four unused bits. */
function withUnusedBits(token: string): string {
  const last = token.slice(-1);
  return `${token.slice(0, -1)}${String.fromCharCode(last.charCodeAt(0) + 1)}`;
}
