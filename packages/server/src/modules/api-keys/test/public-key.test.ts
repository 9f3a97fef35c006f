/** Which JWKs are accepted as public keys, and their stored form. */
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { test } from 'node:test';
import { DomainError } from '../../../foundation/errors.ts';
import { algorithmOf, parsePublicKey, publicKeyOf, thumbprintOf } from '../public-key.ts';

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const edJwk = ed25519.publicKey.export({ format: 'jwk' });
const ecJwk = p256.publicKey.export({ format: 'jwk' });

const errorsOf = (jwk: unknown): unknown => {
  try {
    return parsePublicKey(jwk);
  } catch (error) {
    assert.ok(error instanceof DomainError);
    assert.equal(error.code, 'invalid_request');
    return error.options.errors?.map(({ pointer }) => pointer).join();
  }
};
const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

test('a public key is stored with only its required members, in the order of RFC 7638', () => {
  const { x, y } = ecJwk;
  const ignored = { kid: 'any', ext: true, use: 'sig', key_ops: ['verify'] };
  assert.equal(
    parsePublicKey({ y, x, ...ignored, alg: 'ES256', crv: 'P-256', kty: 'EC' }),
    JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }),
  );
  for (const alg of ['EdDSA', 'Ed25519'])
    assert.equal(
      parsePublicKey({ ...ignored, alg, x: edJwk.x, kty: 'OKP', crv: 'Ed25519' }),
      JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: edJwk.x }),
    );
});

test('the stored form yields the key, its algorithm and its thumbprint', () => {
  const data = Buffer.from('assertion');
  const ed = parsePublicKey(edJwk);
  assert.ok(verify(null, data, publicKeyOf(ed), sign(null, data, ed25519.privateKey)));
  assert.equal(algorithmOf(ed), 'EdDSA');
  const ec = parsePublicKey(ecJwk);
  assert.ok(verify('sha256', data, publicKeyOf(ec), sign('sha256', data, p256.privateKey)));
  assert.equal(algorithmOf(ec), 'ES256');
  // RFC 8037 appendix A.3
  const published = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  assert.equal(thumbprintOf(parsePublicKey(published)), 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
});

test('other keys are rejected with a pointer to the wrong member', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
  const x25519 = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' });
  const short = base64url('02'.repeat(31));
  for (const [jwk, pointer] of [
    [null, '/publicKey'],
    ['text', '/publicKey'],
    [[edJwk], '/publicKey'],
    [{}, '/publicKey/kty'],
    [{ ...edJwk, kty: 'toString' }, '/publicKey/kty'],
    [rsa, '/publicKey/kty'],
    [{ kty: 'oct', k: 'AAAA' }, '/publicKey/k'],
    [p384, '/publicKey/crv'],
    [x25519, '/publicKey/crv'],
    [{ ...edJwk, kty: 'EC' }, '/publicKey/crv'],
    [ed25519.privateKey.export({ format: 'jwk' }), '/publicKey/d'],
    [p256.privateKey.export({ format: 'jwk' }), '/publicKey/d'],
    [{ ...edJwk, d: null }, '/publicKey/d'],
    [{ ...edJwk, y: edJwk.x }, '/publicKey/y'],
    [{ ...edJwk, x5u: 'https://example.com' }, '/publicKey/x5u'],
    [{ ...edJwk, ['a/b~'.padEnd(99, 'c')]: 1 }, `/publicKey/a~1b~0${'c'.repeat(60)}`],
    [{ ...edJwk, alg: 'ES256' }, '/publicKey/alg'],
    [{ ...ecJwk, alg: 'EdDSA' }, '/publicKey/alg'],
    [{ ...edJwk, use: 'enc' }, '/publicKey/use'],
    [{ ...edJwk, key_ops: ['sign'] }, '/publicKey/key_ops'],
    [{ ...edJwk, key_ops: 'verify' }, '/publicKey/key_ops'],
    [{ kty: 'EC', crv: 'P-256', x: ecJwk.x }, '/publicKey/y'],
    [{ ...edJwk, x: undefined }, '/publicKey/x'],
    [{ ...edJwk, x: 7 }, '/publicKey/x'],
    [{ ...edJwk, x: short }, '/publicKey/x'],
    [{ ...edJwk, x: `${edJwk.x}=` }, '/publicKey/x'],
    [{ ...edJwk, x: ` ${edJwk.x}` }, '/publicKey/x'],
    [{ ...ecJwk, y: short }, '/publicKey/y'],
    // Not canonical: the last character has two bits that no byte contains.
    [{ ...edJwk, x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp' }, '/publicKey/x'],
    [{ ...ecJwk, y: ecJwk.x }, '/publicKey'],
  ])
    assert.equal(errorsOf(jwk), pointer, JSON.stringify(jwk));
});

test('the error of a missing coordinate says that it is required', () => {
  const errors = [
    { pointer: '/publicKey/x', detail: 'This member is required: 32 bytes in base64url without padding.' },
  ];
  const { x: _, ...withoutX } = edJwk;
  assert.throws(
    () => parsePublicKey(withoutX),
    (error: DomainError) => {
      assert.deepEqual(error.options.errors, errors);
      return true;
    },
  );
});

test('a point outside the curve Ed25519, or of small order, is rejected', () => {
  const rejected = (hex: string): void => {
    assert.equal(errorsOf({ kty: 'OKP', crv: 'Ed25519', x: base64url(hex) }), '/publicKey/x', hex);
    // OpenSSL would accept it.
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: base64url(hex) }, format: 'jwk' });
  };
  // y = 2: x² is not a square.
  rejected(`02${'00'.repeat(31)}`);
  // All points of small order, with both signs, and encodings of y that are not less than p.
  const orderEight = [
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc',
  ];
  for (const y of orderEight)
    for (const last of y.startsWith('c7') ? ['7a', 'fa'] : ['05', '85']) rejected(`${y}${last}`);
  for (const last of ['00', '80']) {
    rejected(`${'00'.repeat(31)}${last}`);
    rejected(`01${'00'.repeat(30)}${last}`);
  }
  for (const first of ['ec', 'ed', 'ee', 'ff'])
    for (const last of ['7f', 'ff']) rejected(`${first}${'ff'.repeat(30)}${last}`);
});

test('public keys of Ed25519 are on the curve', () => {
  for (let i = 0; i < 200; i++) parsePublicKey(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }));
});
