/** The codes of a second factor: time-based codes (RFC 6238) and recovery codes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { makeRecoveryCode, recoveryCodeHash } from '../recovery-code.ts';
import { isTotpCode, newTotpSecret, stepOf, totpUri } from '../totp.ts';

/** RFC 6238 appendix B: the ASCII of 12345678901234567890, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
/** The SHA-1 test vectors of the same appendix, reduced to their last six digits. */
const vectors: readonly (readonly [seconds: number, code: string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];

for (const [seconds, code] of vectors) {
  test(`the code at ${seconds} seconds is the one in RFC 6238`, () => {
    const step = Math.floor(seconds / 30);
    assert.equal(stepOf(secret, code, seconds * 1000), step);
    assert.equal(stepOf(secret, code, (step + 1) * 30_000), step, 'a step late');
    assert.equal(stepOf(secret, code, (step - 1) * 30_000), step, 'a step early');
    assert.equal(stepOf(secret, code, (step + 2) * 30_000), undefined);
    assert.equal(stepOf(secret, code, step * 30_000 - 30_001), undefined);
  });
}

test('a code is exactly six ASCII digits', () => {
  assert.ok(isTotpCode('000000'));
  for (const text of ['', '12345', '1234567', '12345a', ' 123456', '123456\n', '１２３４５６', '-12345', '1e5   '])
    assert.equal(isTotpCode(text), false, text);
});

test('secrets are distinct and have 160 bits', () => {
  const secrets = new Set(Array.from({ length: 1_000 }, newTotpSecret));
  assert.equal(secrets.size, 1_000);
  for (const one of secrets) assert.match(one, /^[A-Z2-7]{32}$/);
});

test('a URI preserves every character of the issuer and the email address', () => {
  for (const [issuer, label] of [
    ['Example', 'ada@example.com'],
    ['A & B: C/?#%', 'a+b&secret=x@example.com'],
    ['Übung “Ö”', 'ada@bücher.example'],
  ] as const) {
    const uri = new URL(totpUri(secret, issuer, label));
    assert.equal(uri.searchParams.get('issuer'), issuer);
    assert.equal(uri.searchParams.get('secret'), secret);
    assert.ok(decodeURIComponent(uri.pathname).endsWith(label), uri.href);
    assert.equal(uri.searchParams.size, 5);
  }
});

test('recovery codes have 120 bits, with uniformly distributed characters', () => {
  const texts = Array.from({ length: 2_000 }, () => makeRecoveryCode().reveal());
  assert.equal(new Set(texts).size, texts.length);
  const counts = new Map<string, number>();
  for (const digit of texts.join('').replaceAll('-', '')) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  assert.equal(counts.size, 32);
  // 48,000 characters: 1,500 of each, within six standard deviations.
  for (const [digit, count] of counts) assert.ok(Math.abs(count - 1_500) < 230, `${digit} ${count}`);
});

test('a recovery code matches in any case and grouping, and only for its own account', () => {
  const hash = new KeyedHash(Buffer.alloc(32, 7));
  const text = '7K2M-Q9XD-4RTB-0HVN-1WCE-P3JA';
  const stored = recoveryCodeHash(hash, 'acc_ada', text);
  assert.ok(stored);
  for (const typed of [text.toLowerCase(), text.replaceAll('-', ''), ` ${text} `, '7k2m q9xd 4rtb ohvn lwce p3ja'])
    assert.deepEqual(recoveryCodeHash(hash, 'acc_ada', typed), stored, typed);
  assert.notDeepEqual(recoveryCodeHash(hash, 'acc_bob', text), stored);
  assert.notDeepEqual(hash.stored(text), stored, 'not as a one-time code');
  for (const wrong of ['', '123456', text.slice(1), `${text}A`, text.replace('7', 'U'), text.replace('7', 'é')])
    assert.equal(recoveryCodeHash(hash, 'acc_ada', wrong), undefined, wrong);
});
