/** Which public key signed an assertion, and the work that the answer takes. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { newKeyPair, signJwt, type KeyPair } from '../../../../test-kit/public-key-client.ts';
import { isSignedBy } from '../../../foundation/crypto/compact-jwt.ts';
import { parsePublicKey } from '../../api-keys/public-key.ts';
import { parseAssertion, signerOf, type Assertion, type StoredPublicKeys } from '../assertion.ts';

const times = { iat: 1_800_000_000, exp: 1_800_000_060 };
const claims = { iss: '1', sub: '1', aud: 'https://keys.example.com', jti: 'a'.repeat(16), ...times };

function assertionBy(pair: Pick<KeyPair, 'alg' | 'privateKey'>): Assertion {
  const assertion = parseAssertion(signJwt(pair, { alg: pair.alg, kid: '1' }, claims));
  assert.ok(assertion);
  return assertion;
}

/** The result, and the type of the key of each verification. */
function counted(assertion: Assertion, publicKeys: StoredPublicKeys) {
  const verified: (string | undefined)[] = [];
  const signer = signerOf(assertion, publicKeys, (signed, key) => {
    verified.push(key.asymmetricKeyType);
    return isSignedBy(signed, key);
  });
  return { signer, verified };
}

for (const [alg, other, type] of [
  ['EdDSA', 'ES256', 'ed25519'],
  ['ES256', 'EdDSA', 'ec'],
] as const)
  test(`the state of the key does not change the number and the algorithm of the verifications for ${alg}`, () => {
    const pair = newKeyPair(alg);
    const own = parsePublicKey(pair.publicKey);
    const stranger = parsePublicKey(newKeyPair(alg).publicKey);
    const otherType = parsePublicKey(newKeyPair(other).publicKey);
    const assertion = assertionBy(pair);
    const cases: [what: string, publicKeys: StoredPublicKeys, signer: 'current' | 'previous' | undefined][] = [
      ['no key', { current: null, previous: null }, undefined],
      ['the own key', { current: own, previous: null }, 'current'],
      ['another key', { current: stranger, previous: null }, undefined],
      ['a key of another type', { current: otherType, previous: null }, undefined],
      ['an overlap', { current: own, previous: stranger }, 'current'],
      ['the previous key', { current: stranger, previous: own }, 'previous'],
      ['the previous key, after a change of the type', { current: otherType, previous: own }, 'previous'],
      ['an overlap of keys of another type', { current: otherType, previous: otherType }, undefined],
    ];
    for (const [what, publicKeys, signer] of cases) {
      assert.deepEqual(counted(assertion, publicKeys), { signer, verified: [type, type] }, what);
      assert.equal(signerOf(assertion, publicKeys), signer, what);
    }
  });

test('the published private keys of the RFCs sign for no API key', () => {
  const ed25519 = {
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  };
  const p256 = {
    kty: 'EC',
    crv: 'P-256',
    x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
    y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
  };
  for (const [alg, jwk, other] of [
    ['EdDSA', ed25519, p256],
    ['ES256', p256, ed25519],
  ] as const) {
    const { d, ...publicJwk } = jwk;
    const { d: otherD, ...otherJwk } = other;
    assert.notEqual(d, otherD);
    const assertion = assertionBy({ alg, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }) });
    const own = parsePublicKey(publicJwk);
    assert.equal(signerOf(assertion, { current: own, previous: null }), 'current', 'the signature is valid');
    assert.equal(signerOf(assertion, { current: null, previous: null }), undefined);
    const otherType = parsePublicKey(otherJwk);
    assert.equal(signerOf(assertion, { current: otherType, previous: otherType }), undefined);
  }
});
