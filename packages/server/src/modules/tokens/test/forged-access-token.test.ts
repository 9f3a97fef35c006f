/** Access tokens with a wrong header, an ambiguous or other encoding, or without a signature of the installation (RFC 8725). */
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertAccepted, assertRejected, encode, genuineOf, type Fields, type Genuine } from './genuine-token.ts';

/** Changes of the header. All are signed with the right key. */
function wrongHeaders(header: Fields, publicJwk: JWK): readonly (readonly [string, Fields])[] {
  return [
    ['no typ', { typ: undefined }],
    ['typ of any JWT', { typ: 'JWT' }],
    ['typ of an ID token', { typ: 'id+jwt' }],
    ['no alg', { alg: undefined }],
    ['alg none', { alg: 'none' }],
    ['alg None', { alg: 'None' }],
    ['a longer curve’s alg', { alg: 'ES384' }],
    ['alg in another case', { alg: 'es256' }],
    ['alg of an RSA key', { alg: 'RS256' }],
    ['alg of a secret', { alg: 'HS256' }],
    ['no kid', { kid: undefined }],
    ['an unknown kid', { kid: 'A'.repeat(22) }],
    ['an empty kid', { kid: '' }],
    ['a path as kid', { kid: '../../../../dev/null' }],
    ['SQL as kid', { kid: `' union select kid from signing_keys --` }],
    ['a kid with a wildcard', { kid: '%' }],
    ['a longer kid', { kid: `${String(header['kid'])}A` }],
    ['a number as kid', { kid: 1 }],
    ['a list as kid', { kid: [header['kid']] }],
    ['a property of every object as kid', { kid: '__proto__' }],
    ['jwk', { jwk: publicJwk }],
    ['jku', { jku: 'https://evil.example/jwks.json' }],
    ['x5c', { x5c: ['MIIB'] }],
    ['x5u', { x5u: 'https://evil.example/x.pem' }],
    ['crit with an unknown name', { crit: ['exp'], exp: 1 }],
    ['crit, empty', { crit: [] }],
    ['b64 false', { b64: false, crit: ['b64'] }],
    ['b64 true', { b64: true }],
    ['zip', { zip: 'DEF' }],
    ['cty', { cty: 'JWT' }],
  ];
}

test(
  'a token with a wrong header is rejected, although the right key signed it',
  { tags: ['asvs:9.1.2', 'asvs:9.1.3', 'asvs:9.2.2'] },
  async () => {
    await using app = await newApp();
    const signedIn = await app.signIn();
    const { header, payload, sign: signed } = await genuineOf(app, signedIn);
    const { keys } = await app.service.services.signingKeys.jwks();
    for (const [what, change] of wrongHeaders(header, keys[0] as JWK)) {
      await assertRejected(app, await signed({ ...header, ...change }, payload), what);
    }
    await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
  },
);

/** JSON texts that parsers interpret differently. All are signed with the right key. */
function ambiguousTexts(header: Fields, payload: Fields): readonly (readonly [string, string, string])[] {
  const [head, body] = [JSON.stringify(header), JSON.stringify(payload)];
  const twice = (text: string, name: string, value: unknown, isFirst: boolean): string =>
    isFirst
      ? `{"${name}":${JSON.stringify(value)},${text.slice(1)}`
      : `${text.slice(0, -1)},"${name}":${JSON.stringify(value)}}`;
  return [
    ['alg twice, none first', twice(head, 'alg', 'none', true), body],
    ['kid twice, the same', twice(head, 'kid', header['kid'], false), body],
    ['sub twice, another account first', head, twice(body, 'sub', 'acc_0000000000000000000000', true)],
    ['exp twice, the earlier first', head, twice(body, 'exp', 1, true)],
    ['exp twice, escaped', head, `{"\\u0065xp":1,${body.slice(1)}`],
    ['jti twice, the same', head, twice(body, 'jti', payload['jti'], false)],
    ['a nested name twice', head, twice(body, 'more', { a: 1 }, false).replace('{"a":1}', '{"a":1,"a":1}')],
    ['a property of every object as claim', head, `{"__proto__":{},${body.slice(1)}`],
    ['a header with a byte order mark', `\uFEFF${head}`, body],
    ['a payload that is a list', head, `[${body}]`],
    ['a payload that is not JSON', head, `${body}}`],
  ];
}

test('a token with a duplicate name is rejected, although the right key signed it', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const { header, payload, signTexts } = await genuineOf(app, signedIn);
  await assertAccepted(app, await signTexts(JSON.stringify(header), ` ${JSON.stringify(payload)}`), 'unambiguous');
  for (const [what, head, body] of ambiguousTexts(header, payload))
    await assertRejected(app, await signTexts(head, body), what);
  await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
});

/** Other texts that a tolerant decoder accepts as the same token. */
function* otherEncodings(token: string): Generator<readonly [string, string]> {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // The signature of 64 bytes has 86 characters. Only two bits of the last one are used.
  const last = alphabet.indexOf(token.at(-1) ?? '');
  for (let unused = 1; unused < 16; unused++)
    yield [`unused bits ${unused}`, token.slice(0, -1) + (alphabet[last + unused] ?? '')];
  const parts = token.split('.');
  for (const [index, part] of parts.entries()) {
    const encoded = (text: string): string => parts.with(index, text).join('.');
    yield [`part ${index} padded`, encoded(part + '='.repeat(-part.length & 3 || 4))];
    yield [`part ${index} with half its padding`, encoded(`${part}=`)];
    yield [`part ${index} with a character after it`, encoded(`${part}!`)];
    yield [`part ${index} with a character in it`, encoded(`${part.slice(0, 9)}*${part.slice(9)}`)];
    const base64 = part.replaceAll('-', '+').replaceAll('_', '/');
    if (base64 !== part) yield [`part ${index} in base64`, encoded(base64)];
  }
}

test('a token has exactly one accepted encoding', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const encodings = [...otherEncodings(signedIn.accessToken)];
  assert.ok(encodings.length >= 17);
  for (const [what, token] of encodings) await assertRejected(app, token, what);
  await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
});

/** Tokens that are forged without the key. */
function forgeries(accessToken: string, { header, payload }: Genuine, publicJwk: JWK) {
  const input = `${encode(header)}.${encode(payload)}`;
  const [head = '', body = '', signature = ''] = accessToken.split('.');
  const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
  const hmac = (secret: string | Buffer): string => {
    const unsigned = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
    return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
  };
  const signedBy = (key: KeyObject): string =>
    `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  const flipped = (at: number): string =>
    signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1);
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  return [
    ['alg none, no signature', `${encode({ ...header, alg: 'none' })}.${body}.`],
    ['alg none, the signature of another', `${encode({ ...header, alg: 'none' })}.${body}.${signature}`],
    ['alg NONE without kid', `${encode({ alg: 'NONE', typ: 'at+jwt' })}.${body}.`],
    ['HS256 with the public key as PEM', hmac(pem)],
    ['HS256 with the public key as PEM, trimmed', hmac(pem.trim())],
    ['HS256 with the public key as DER', hmac(publicKey.export({ type: 'spki', format: 'der' }))],
    ['HS256 with the public key as JWK', hmac(JSON.stringify(publicJwk))],
    ['HS256 with an empty secret', hmac('')],
    ['another EC key under our kid', signedBy(otherKey)],
    ['a signature of zeros', `${input}.${Buffer.alloc(64).toString('base64url')}`],
    ['a signature in DER', `${input}.${sign('sha256', Buffer.from(input), otherKey).toString('base64url')}`],
    ['an altered signature', `${head}.${body}.${flipped(0)}`],
    ['a signature altered in its middle', `${head}.${body}.${flipped(43)}`],
    [
      'another account under the old signature',
      `${head}.${encode({ ...payload, sub: 'acc_0000000000000000000000' })}.${signature}`,
    ],
    [
      'a later expiry under the old signature',
      `${head}.${encode({ ...payload, exp: Number(payload['exp']) + 1 })}.${signature}`,
    ],
    ['a cut signature', accessToken.slice(0, -2)],
    ['no signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['one part', head],
    ['four parts', `${accessToken}.${signature}`],
    ['five parts, as an encrypted token has', `${head}.${body}.${signature}.${signature}.${signature}`],
    ['a header that is not JSON', `eyJ4.${body}.${signature}`],
    ['a header that is a list', `${encode([header])}.${body}.${signature}`],
    ['nothing between the dots', 'eyJ..'],
    ['the payload first', `${body}.${head}.${signature}`],
  ] as const;
}

test('a token that this installation did not sign is rejected', { tags: ['asvs:7.2.1', 'asvs:9.1.1'] }, async () => {
  const environment = { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' };
  await using app = await newApp({ environment });
  const signedIn = await app.signIn();
  const genuine = await genuineOf(app, signedIn);
  const { keys } = await app.service.services.signingKeys.jwks();
  for (const [what, token] of forgeries(signedIn.accessToken, genuine, keys[0] as JWK)) {
    await assertRejected(app, token, what);
  }
  await using other = await newApp({ environment });
  const elsewhere = await other.signIn();
  await assertAccepted(other, elsewhere.accessToken, 'in its own installation');
  await assertRejected(app, elsewhere.accessToken, 'of another installation with the same URL');
  const { sign: signedElsewhere } = await genuineOf(other, elsewhere);
  await assertRejected(
    app,
    await signedElsewhere(genuine.header, genuine.payload),
    'another installation under our kid',
  );
  await assertAccepted(app, signedIn.accessToken, 'the session is unchanged');
});
