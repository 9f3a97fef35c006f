/** The JWK sets of issuers: how they are fetched, how long they are used, and which of their keys count. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { newIdentityIssuer, newIssuerKey, type IdentityIssuer } from '../../../../test-kit/identity-issuer.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { AddressGuard } from '../../../foundation/outgoing/address-guard.ts';
import { keySetOf } from '../key-set.ts';
import type { KeySets } from '../key-sets.ts';
import { keySetsFor, rowOf, targetOf } from './issuer-kit.ts';

const rsa = newIssuerKey('RS256');
const ageMs = limits.issuerKeySetAgeSeconds * 1_000;
const refreshMs = limits.issuerKeySetRefreshSeconds * 1_000;
const retryMs = limits.issuerKeySetRetrySeconds * 1_000;

/** An issuer with one key, and what fetches its set on a clock of the test. */
async function fixture() {
  const issuer = await newIdentityIssuer({ keys: [rsa] });
  const failures: string[] = [];
  const clock = { ms: 0 };
  const keySets = keySetsFor(issuer, {
    now: () => clock.ms,
    onFailure: (_, error) => failures.push(error instanceof Error ? error.message : String(error)),
  });
  return {
    issuer,
    keySets,
    failures,
    clock,
    find: (keyId: string | null, refreshes = 0) => found(keySets, issuer, keyId, refreshes),
    get fetches() {
      return issuer.requests.filter((path) => path.endsWith('/jwks')).length;
    },
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

async function found(keySets: KeySets, issuer: IdentityIssuer, keyId: string | null, refreshes: number) {
  try {
    return (await keySets.find(rowOf(issuer, { refreshes }), keyId)) ? 'found' : 'none';
  } catch (error) {
    assert.ok(error instanceof DomainError, String(error));
    return error.code;
  }
}

test('a set is fetched once for all who need it, and again before it is too old', async () => {
  await using at = await fixture();
  assert.deepEqual(await Promise.all([at.find(rsa.kid), at.find(rsa.kid), at.find(null)]), ['found', 'found', 'found']);
  assert.deepEqual(at.issuer.requests, ['/.well-known/openid-configuration', '/jwks']);
  at.clock.ms = ageMs * 0.8 - 1;
  await at.find(rsa.kid);
  assert.equal(at.fetches, 1);
  at.clock.ms += 1;
  assert.equal(await at.find(rsa.kid), 'found');
  await at.issuer.untilRequests(4);
});

test('a key that the issuer has removed is accepted for five minutes, and not without a set', async () => {
  await using at = await fixture();
  await at.find(rsa.kid);
  const next = at.issuer.rotate();
  at.issuer.remove(rsa);
  at.clock.ms = ageMs * 0.8 - 1;
  assert.equal(await at.find(rsa.kid), 'found');
  at.clock.ms = ageMs;
  assert.equal(await at.find(rsa.kid), 'none');
  assert.equal(await at.find(next.kid), 'found');
  at.issuer.setFault('jwks', 'unavailable');
  at.clock.ms += ageMs;
  assert.equal(await at.find(next.kid), 'unavailable');
  assert.deepEqual(at.failures, ['it answered 503']);
});

test('an unknown kid fetches the set again, at most once a minute', async () => {
  await using at = await fixture();
  await at.find(rsa.kid);
  at.clock.ms = refreshMs - 1;
  const next = at.issuer.rotate();
  assert.equal(await at.find(next.kid), 'none');
  assert.equal(at.fetches, 1);
  at.clock.ms = refreshMs;
  assert.deepEqual(await Promise.all([at.find(next.kid), at.find('unknown'), at.find('other')]), [
    'found',
    'none',
    'none',
  ]);
  assert.equal(at.fetches, 2);
  assert.equal(await at.find('unknown'), 'none');
  assert.equal(at.fetches, 2);
});

test('a forced refresh is in force for the next exchange, also while an earlier fetch is in progress', async () => {
  await using at = await fixture();
  await at.find(rsa.kid);
  const next = at.issuer.rotate();
  at.issuer.remove(rsa);
  assert.equal(await at.find(rsa.kid, 1), 'none');
  assert.equal(await at.find(next.kid, 1), 'found');
  assert.equal(at.fetches, 2);
  at.issuer.setFault('jwks', 'held');
  const earlier = at.find(next.kid, 2);
  await at.issuer.untilRequests(6);
  const later = at.find(next.kid, 3);
  at.issuer.remove(next);
  at.issuer.rotate(rsa);
  at.issuer.setFault('jwks', undefined);
  assert.equal(await earlier, 'found');
  assert.equal(await later, 'none');
});

test('after a failure, no fetch for seconds', async () => {
  await using at = await fixture();
  at.issuer.setFault('discovery', 'unavailable');
  assert.equal(await at.find(rsa.kid), 'unavailable');
  at.issuer.setFault('discovery', undefined);
  at.clock.ms = retryMs - 1;
  assert.equal(await at.find(rsa.kid), 'unavailable');
  assert.equal(at.issuer.requests.length, 1);
  at.clock.ms = retryMs;
  assert.equal(await at.find(rsa.kid), 'found');
  assert.deepEqual(at.keySets.counts, { fetched: 1, failed: 1 });
});

test('too many exchanges that wait for one fetch are rejected', async () => {
  await using at = await fixture();
  at.issuer.setFault('jwks', 'held');
  const waiting = Array.from({ length: limits.issuerKeySetWaitingMax }, () => at.find(rsa.kid));
  assert.equal(await at.find(rsa.kid), 'unavailable');
  await at.issuer.untilRequests(2);
  at.issuer.setFault('jwks', undefined);
  assert.deepEqual([...new Set(await Promise.all(waiting))], ['found']);
});

for (const [what, prepare, failure] of [
  ['redirects', (issuer) => issuer.setFault('jwks', 'redirecting'), 'it answered 302'],
  ['redirects its metadata', (issuer) => issuer.setFault('discovery', 'redirecting'), 'it answered 302'],
  [
    'sends too much',
    (issuer) => issuer.setFault('jwks', 'oversized'),
    `its response is not complete within ${limits.issuerKeySetBytesMax} bytes`,
  ],
  ['sends no JSON', (issuer) => issuer.setFault('jwks', 'malformed'), 'its response is not JSON'],
  [
    'names another issuer',
    (issuer) => (issuer.metadata = { issuer: 'https://other.example.com' }),
    'its metadata names another issuer',
  ],
  ['has no jwks_uri', (issuer) => (issuer.metadata = { jwks_uri: 1 }), 'its metadata has no jwks_uri'],
  [
    'has a jwks_uri without TLS',
    (issuer) => (issuer.metadata = { jwks_uri: issuer.url.replace('https', 'http') }),
    'it must be https',
  ],
  [
    'has a jwks_uri of a local file',
    (issuer) => (issuer.metadata = { jwks_uri: 'file:///etc/passwd' }),
    'it must be https',
  ],
  [
    'has a jwks_uri at an internal address',
    (issuer) => (issuer.metadata = { jwks_uri: 'https://169.254.169.254/jwks' }),
    'it leads to an internal address',
  ],
  [
    'has a jwks_uri on another port',
    (issuer) => (issuer.metadata = { jwks_uri: 'https://localhost:1/jwks' }),
    'its port must be 443',
  ],
  [
    'has too many keys',
    (issuer) => (issuer.furtherJwks = Array.from({ length: limits.issuerKeySetKeysMax }, () => ({}))),
    `its JWK set has more than ${limits.issuerKeySetKeysMax} keys`,
  ],
  ['has no key', (issuer) => (issuer.keys = []), 'its JWK set has no public key for signatures'],
] as const satisfies [string, (issuer: IdentityIssuer) => unknown, string][])
  test(`the set of an issuer that ${what} is not used`, async () => {
    await using at = await fixture();
    prepare(at.issuer);
    assert.equal(await at.find(rsa.kid), 'unavailable');
    assert.deepEqual(at.failures, [failure]);
    assert.deepEqual(await at.keySets.show(rowOf(at.issuer)), { keyIds: [], failure });
    assert.ok(!at.issuer.requests.some((path) => path.startsWith('/moved')), 'no redirect is followed');
  });

test('a private issuer is reached only if the operator allows its address and its authority', async () => {
  await using at = await fixture();
  const { issuer } = at;
  for (const [options, failure] of [
    [{ guard: new AddressGuard([]) }, 'its port must be 443'],
    [{ guard: new AddressGuard([{ kind: 'network', cidr: '10.0.0.0/8' }]) }, 'it leads to an internal address'],
    [{ authorities: [] }, 'the connection failed: DEPTH_ZERO_SELF_SIGNED_CERT'],
    [{ guard: new AddressGuard([targetOf(issuer)], () => Promise.resolve([])) }, 'the name has no address'],
  ] as const)
    assert.deepEqual(await keySetsFor(issuer, options).show(rowOf(issuer)), { keyIds: [], failure });
  assert.deepEqual(issuer.requests, []);
});

test('a slow issuer delays no other', async () => {
  await using at = await fixture();
  await using other = await newIdentityIssuer({ keys: [rsa] });
  const keySets = keySetsFor(at.issuer, { guard: new AddressGuard([targetOf(at.issuer), targetOf(other)]) });
  at.issuer.setFault('discovery', 'held');
  const slow = found(keySets, at.issuer, rsa.kid, 0);
  await at.issuer.untilRequests(1);
  assert.ok(await keySets.find(rowOf(other, { id: 2 }), rsa.kid));
  at.issuer.setFault('discovery', undefined);
  assert.equal(await slow, 'found');
});

test('issuers of service accounts remove no set of a common issuer from memory', async () => {
  await using at = await fixture();
  await at.find(rsa.kid);
  const unreachable = 'https://127.0.0.1';
  for (let id = 2; id <= limits.issuerKeySetsMax + 2; id++)
    await assert.rejects(at.keySets.find(rowOf({ url: unreachable }, { id, accountId: `acc_${id}` }), rsa.kid));
  assert.equal(await at.find(rsa.kid), 'found');
  assert.equal(at.fetches, 1);
});

test('a fixed set is used without a request', async () => {
  await using at = await fixture();
  const jwks = JSON.stringify(at.issuer.jwks);
  assert.ok(await at.keySets.find(rowOf(at.issuer, { jwks }), rsa.kid));
  assert.equal(await at.keySets.find(rowOf(at.issuer, { jwks }), 'unknown'), undefined);
  assert.deepEqual(await at.keySets.show(rowOf(at.issuer, { jwks })), { keyIds: [rsa.kid], failure: null });
  assert.deepEqual(at.issuer.requests, []);
});

const jwkOf = (bits: number, publicExponent = 65_537): object => ({
  ...generateKeyPairSync('rsa', { modulusLength: bits, publicExponent }).publicKey.export({ format: 'jwk' }),
});

test('only public keys for signatures count, with the algorithms that fit them', () => {
  const { jwk } = rsa;
  const { alg, use, kid, ...bare } = jwk as Record<string, string>;
  const [p256, ed25519] = [newIssuerKey('ES256').jwk, newIssuerKey('EdDSA').jwk];
  const ignored: Record<string, object> = {
    'a key for encryption': { ...bare, use: 'enc' },
    'a key without the operation verify': { ...bare, key_ops: ['encrypt'] },
    'operations that are no list': { ...bare, key_ops: 'verify' },
    'an algorithm of encryption': { ...bare, alg: 'RSA-OAEP' },
    'an algorithm of another type of key': { ...bare, alg: 'ES256' },
    'the algorithm none': { ...bare, alg: 'none' },
    'a symmetric algorithm': { ...bare, alg: 'HS256' },
    'a symmetric key': { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: 'a' },
    'a private key': { ...rsa.privateKey.export({ format: 'jwk' }) },
    'RSA with 1,024 bits': jwkOf(1_024),
    'RSA with an exponent of 1': { ...bare, e: 'AQ' },
    'RSA with a large exponent': { ...bare, e: Buffer.alloc(6, 0xff).toString('base64url') },
    'a curve that is not supported': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({
      format: 'jwk',
    }),
    'a point outside the curve': { ...p256, x: ed25519['x'] },
    Ed448: generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' }),
    X25519: generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }),
    'a kid that is a number': { ...bare, kid: 1 },
    'no type': { n: bare['n'], e: bare['e'] },
  };
  for (const [what, key] of Object.entries(ignored)) {
    assert.throws(() => keySetOf({ keys: [key] }), /has no public key for signatures/, what);
    assert.deepEqual(
      keySetOf({ keys: [key, jwk] }).map(({ id }) => id),
      [kid],
      what,
    );
  }
  for (const [key, algorithms] of [
    [bare, ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
    [{ ...bare, alg: 'PS256', use: 'sig', key_ops: ['verify'] }, ['PS256']],
    [p256, ['ES256']],
    [{ ...ed25519, alg: undefined }, ['EdDSA', 'Ed25519']],
  ] as const)
    assert.deepEqual(keySetOf({ keys: [key] })[0]?.algorithms, algorithms);
  assert.ok(alg && use);
  for (const value of [null, [], {}, { keys: {} }, { keys: null }, 'keys'])
    assert.throws(() => keySetOf(value), /has no array keys/);
});

test('two keys with the same kid verify nothing', async () => {
  await using at = await fixture();
  at.issuer.furtherJwks = [newIssuerKey('RS256', rsa.kid).jwk];
  assert.equal(await at.find(rsa.kid), 'none');
  assert.equal(await at.find(null), 'none');
});
