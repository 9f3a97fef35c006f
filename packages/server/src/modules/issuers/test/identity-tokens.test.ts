/** Which identity tokens are accepted: the shapes of the issuers of workloads, algorithms, times, and how many at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issuerAlgorithms, limits } from '@keyreeve/contract';
import { newIdentityIssuer, newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { tokenShapes, type ShapeName } from '../../../../test-kit/identity-claims.ts';
import { IdentityTokens, type ParsedToken } from '../identity-tokens.ts';
import { keySetsFor, rowOf } from './issuer-kit.ts';

const audience = 'https://keys.example.com';
const now = 1_790_000_000_000;
const clock = { now: () => now };
const clientIp = '203.0.113.7';

test('tokens of all shapes are accepted', async () => {
  await using issuer = await newIdentityIssuer({ clock, audience });
  const tokens = new IdentityTokens(keySetsFor(issuer));
  const row = rowOf(issuer, { lifetimeSeconds: limits.issuerLifetimeSecondsMax });
  for (const shape of Object.keys(tokenShapes) as ShapeName[]) {
    const token = tokens.parse(issuer.token(shape));
    assert.ok(token, shape);
    assert.equal(token.audience, audience);
    assert.equal(await tokens.verify(token, row, { now, clientIp }), token, shape);
  }
});

test('each algorithm verifies the tokens of its keys, and no others', async () => {
  const made = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
  const keys = made.map((alg) => newIssuerKey(alg));
  await using issuer = await newIdentityIssuer({ keys, clock, audience });
  const tokens = new IdentityTokens(keySetsFor(issuer));
  const all = issuerAlgorithms.join(' ');
  for (const signer of keys) {
    const token = tokens.parse(issuer.token('gitlab', { signer }));
    assert.ok(token);
    const accepted = async (algorithms: string): Promise<boolean> =>
      (await tokens.verify(token, rowOf(issuer, { algorithms }), { now, clientIp })) !== undefined;
    assert.equal(await accepted(signer.alg), true, signer.alg);
    assert.equal(await accepted(all), true, signer.alg);
    assert.equal(await accepted(issuerAlgorithms.filter((one) => one !== signer.alg).join(' ')), false, signer.alg);
    assert.equal(await accepted(''), false, 'an issuer without algorithms');
  }
});

test('times are accepted with a skew of a minute', async () => {
  await using issuer = await newIdentityIssuer({ clock, audience });
  const tokens = new IdentityTokens(keySetsFor(issuer));
  const seconds = now / 1_000;
  const accepted = async (claims: object): Promise<boolean> => {
    const token = tokens.parse(issuer.token('gitlab', { claims: claims as Record<string, unknown> }));
    return token !== undefined && (await tokens.verify(token, rowOf(issuer), { now, clientIp })) !== undefined;
  };
  const late = { iat: seconds - 3_600, nbf: seconds - 3_600 };
  assert.equal(await accepted({ ...late, exp: seconds - 59 }), true);
  assert.equal(await accepted({ ...late, exp: seconds - 60 }), false);
  const early = { iat: seconds + 60, exp: seconds + 300 };
  assert.equal(await accepted({ ...early, nbf: seconds + 60 }), true);
  assert.equal(await accepted({ ...early, nbf: seconds + 61 }), false);
  assert.equal(await accepted({ ...early, iat: seconds + 61 }), false);
  assert.equal(await accepted({ iat: seconds, exp: seconds + 3_600 }), true);
  assert.equal(await accepted({ iat: seconds, exp: seconds + 3_600.5 }), false);
  assert.equal(
    await accepted({ iat: seconds - 0.5, nbf: undefined, exp: seconds + 300 }),
    true,
    'fractions, without nbf',
  );
});

test('a flood of one client IP range delays other ranges and issuers by few signatures, and more than its share is rejected', async () => {
  await using issuer = await newIdentityIssuer({ clock, audience });
  const tokens = new IdentityTokens(keySetsFor(issuer));
  const [row, otherRow] = [rowOf(issuer), rowOf(issuer, { id: 2 })];
  const valid = tokens.parse(issuer.token('gitlab'));
  const invalid = tokens.parse(
    issuer.token('gitlab', { signer: { ...newIssuerKey('RS256'), kid: issuer.keys[0]!.kid } }),
  );
  assert.ok(valid && invalid);
  for (const one of [row, otherRow]) await tokens.verify(valid, one, { now, clientIp });
  const started: string[] = [];
  /** Notes when the verification of its signature starts. */
  const noting = (by: string, token: ParsedToken): ParsedToken => ({
    ...token,
    get signature() {
      started.push(by);
      return token.signature;
    },
  });
  const flood = Array.from({ length: 200 }, (_, index) =>
    codeOf(tokens.verify(noting('flood', invalid), row, { now, clientIp: `2001:db8::${index}` })),
  );
  const others = [
    codeOf(tokens.verify(noting('range', valid), row, { now, clientIp: '2001:db8:0:1::1' })),
    codeOf(tokens.verify(noting('issuer', valid), otherRow, { now, clientIp: '2001:db8::1' })),
  ];
  const codes = await Promise.all(flood);
  assert.deepEqual(await Promise.all(others), ['accepted', 'accepted']);
  const { identityTokenChecksMax: running, identityTokenChecksPerOwnerMax: waiting } = limits;
  const counted = Object.groupBy(codes, (code) => code);
  assert.equal(counted['refused']?.length, running + waiting);
  assert.equal(counted['too_many_in_progress']?.length, 200 - running - waiting);
  assert.deepEqual(tokens.counts, { valid: 4, invalid: running + waiting });
  // The flood came first, and has one turn before each of the others.
  assert.deepEqual(started.slice(0, running + 3), [...Array<string>(running + 1).fill('flood'), 'range', 'issuer']);
});

const codeOf = (verification: Promise<unknown>): Promise<string> =>
  verification.then(
    (verified) => (verified === undefined ? 'refused' : 'accepted'),
    (error: unknown) => String((error as { code?: unknown }).code),
  );
