/** Places for password checks: shared out fairly between emails and address ranges, and never all to strangers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { PasswordChecks } from '../password-checks.ts';

const slots = limits.signInsUnderWayMax;

/** Enough room in the hasher for every place. */
const newChecks = (isFair = true): PasswordChecks =>
  new PasswordChecks({ hasher: new PasswordHasher(new KeyedHash(randomBytes(32)), undefined, 100), isFair });

/** How many of many attempts get a place, which they keep. */
function acquireMany(
  checks: PasswordChecks,
  count: number,
  attempt: (n: number) => Parameters<typeof checks.acquire>[0],
) {
  let acquired = 0;
  const codes = new Set<unknown>();
  for (let n = 0; n < count; n++) {
    try {
      checks.acquire(attempt(n));
      acquired++;
    } catch (error) {
      codes.add(error instanceof DomainError ? error.code : error);
    }
  }
  return { acquired, codes: [...codes] };
}
const emailOf = (n: number): string => `user${n}@example.com`;
const ipOf = (n: number): string => `198.18.${n >> 8}.${n & 255}`;

test('one email has two checks in progress, and strangers have two of their own', () => {
  const checks = newChecks();
  for (const isTrusted of [true, false]) {
    const attempt = (n: number) => ({ canonicalEmail: 'ada@example.com', clientIp: ipOf(n), isTrusted });
    assert.deepEqual(acquireMany(checks, 16, attempt), { acquired: 2, codes: ['too_many_attempts'] });
  }
  assert.equal(checks.inProgress, 4);
  checks.acquire({ canonicalEmail: 'bob@example.com', clientIp: ipOf(0), isTrusted: true });
});

test('a place is free again once, however often it is left', () => {
  const checks = newChecks();
  const attempt = { canonicalEmail: 'ada@example.com', clientIp: ipOf(0), isTrusted: true };
  const release = checks.acquire(attempt);
  checks.acquire(attempt);
  assert.throws(() => checks.acquire(attempt), { code: 'too_many_attempts' });
  release();
  release();
  assert.equal(checks.inProgress, 1);
  checks.acquire(attempt);
  assert.throws(() => checks.acquire(attempt), { code: 'too_many_attempts' });
});

test('one address range gets half of all places, two get a third each, and another range still finds one', () => {
  const checks = newChecks();
  const from = (clientIp: string) => (n: number) => ({ canonicalEmail: `${clientIp}${n}`, clientIp, isTrusted: true });
  assert.deepEqual(acquireMany(checks, 100, from('192.0.2.1')), { acquired: slots / 2, codes: ['overloaded'] });
  assert.equal(acquireMany(checks, 100, from('192.0.2.2')).acquired, slots / 4);
  // Spellings of one IPv6 network are one range.
  assert.equal(acquireMany(checks, 100, (n) => from(`2001:db8::${n}`)(0)).acquired, slots / 8);
  for (let n = 3; checks.inProgress < slots; n++)
    assert.ok(acquireMany(checks, 1, from(`192.0.2.${n}`)).acquired, `${n}`);
  assert.deepEqual(acquireMany(checks, 1, from('203.0.113.1')), { acquired: 0, codes: ['overloaded'] });
});

test('strangers from any number of client IPs leave a quarter of the places to trusted address ranges', () => {
  const checks = newChecks();
  const attempt = (isTrusted: boolean) => (n: number) => ({ canonicalEmail: emailOf(n), clientIp: ipOf(n), isTrusted });
  assert.deepEqual(acquireMany(checks, 1_200, attempt(false)), { acquired: slots * 0.75, codes: ['overloaded'] });
  assert.equal(acquireMany(checks, 1_200, attempt(true)).acquired, slots * 0.25);
});

test('eight accounts that sign in as fast as they can leave places to every other account', () => {
  const checks = newChecks();
  const flood = (n: number) => ({ canonicalEmail: emailOf(n % 8), clientIp: ipOf(n), isTrusted: n % 2 === 0 });
  assert.ok(acquireMany(checks, 1_200, flood).acquired <= 32);
  checks.acquire({ canonicalEmail: 'you@example.com', clientIp: '192.0.2.7', isTrusted: false });
});

test('without fairness, for load tests, one email and one range get every place and no more', () => {
  const attempt = () => ({ canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1', isTrusted: false });
  assert.deepEqual(acquireMany(newChecks(false), 100, attempt), { acquired: slots, codes: ['overloaded'] });
});

test('a slow machine has fewer places: only as many as it checks in time', async () => {
  const hasher = new PasswordHasher(new KeyedHash(randomBytes(32)), { memoryKib: 64, passes: 1, lanes: 1 }, 1);
  assert.equal(hasher.checksMax, Math.floor(limits.hashWaitMsMax / 30));
  await hasher.hash('x');
  assert.ok(hasher.checksMax > 1 && hasher.checksMax <= 1 + limits.hashQueueMax);
  const checks = new PasswordChecks({ hasher, isFair: true, share: 1 / 72 });
  checks.acquire({ canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1', isTrusted: false });
  assert.throws(() => checks.acquire({ canonicalEmail: 'bob@example.com', clientIp: '192.0.2.2', isTrusted: true }), {
    code: 'overloaded',
  });
});
