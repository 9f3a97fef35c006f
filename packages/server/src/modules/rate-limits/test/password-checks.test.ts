/** Slots for password checks are shared fairly between emails, address ranges, and trusted and untrusted clients. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { PasswordChecks } from '../password-checks.ts';

const slots = limits.signInsUnderWayMax;

/** The hasher has enough capacity for all slots. */
const newChecks = (isFair = true): PasswordChecks =>
  new PasswordChecks({
    hasher: new PasswordHasher(new KeyedHash(randomBytes(32)), undefined, { concurrency: 100 }),
    isFair,
  });

/** @returns the number of acquired slots, which are not released, and the codes of the rejections */
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

test('an email has two checks in progress for trusted ranges and two for others', () => {
  const checks = newChecks();
  for (const isTrusted of [true, false]) {
    const attempt = (n: number) => ({ canonicalEmail: 'ada@example.com', clientIp: ipOf(n), isTrusted });
    assert.deepEqual(acquireMany(checks, 16, attempt), { acquired: 2, codes: ['too_many_attempts'] });
  }
  assert.equal(checks.inProgress, 4);
  checks.acquire({ canonicalEmail: 'bob@example.com', clientIp: ipOf(0), isTrusted: true });
});

test('a repeated release frees no second slot', () => {
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

test('one address range gets half of all slots, a second one half of the rest, and a new range the last', () => {
  const checks = newChecks();
  const from = (clientIp: string) => (n: number) => ({ canonicalEmail: `${clientIp}${n}`, clientIp, isTrusted: true });
  assert.deepEqual(acquireMany(checks, 100, from('192.0.2.1')), { acquired: slots / 2, codes: ['overloaded'] });
  assert.equal(acquireMany(checks, 100, from('192.0.2.2')).acquired, slots / 4);
  // Addresses of one IPv6 /64 are one range.
  assert.equal(acquireMany(checks, 100, (n) => from(`2001:db8::${n}`)(0)).acquired, slots / 8);
  for (let n = 3; checks.inProgress < slots; n++)
    assert.ok(acquireMany(checks, 1, from(`192.0.2.${n}`)).acquired, `${n}`);
  assert.deepEqual(acquireMany(checks, 1, from('203.0.113.1')), { acquired: 0, codes: ['overloaded'] });
});

test('a quarter of the slots is reserved for trusted address ranges', () => {
  const checks = newChecks();
  const attempt = (isTrusted: boolean) => (n: number) => ({ canonicalEmail: emailOf(n), clientIp: ipOf(n), isTrusted });
  assert.deepEqual(acquireMany(checks, 1_200, attempt(false)), { acquired: slots * 0.75, codes: ['overloaded'] });
  assert.equal(acquireMany(checks, 1_200, attempt(true)).acquired, slots * 0.25);
});

test('a flood of sign-ins on eight accounts leaves slots to others', () => {
  const checks = newChecks();
  const flood = (n: number) => ({ canonicalEmail: emailOf(n % 8), clientIp: ipOf(n), isTrusted: n % 2 === 0 });
  assert.ok(acquireMany(checks, 1_200, flood).acquired <= 32);
  checks.acquire({ canonicalEmail: 'you@example.com', clientIp: '192.0.2.7', isTrusted: false });
});

test('without fairness, for load tests, one email and one range get all slots', () => {
  const attempt = () => ({ canonicalEmail: 'ada@example.com', clientIp: '192.0.2.1', isTrusted: false });
  assert.deepEqual(acquireMany(newChecks(false), 100, attempt), { acquired: slots, codes: ['overloaded'] });
});

test('a slow machine has fewer slots: as many as it can check in time', async () => {
  const hasher = new PasswordHasher(
    new KeyedHash(randomBytes(32)),
    { memoryKib: 64, passes: 1, lanes: 1 },
    { concurrency: 1 },
  );
  assert.equal(hasher.checksMax, Math.floor(limits.hashWaitMsMax / 30));
  await hasher.hash('x');
  assert.ok(hasher.checksMax > 1 && hasher.checksMax <= 1 + limits.hashQueueMax);
  const checks = new PasswordChecks({ hasher, isFair: true });
  const acquire = (n: number) =>
    checks.acquire({ canonicalEmail: `user${n}@example.com`, clientIp: `192.0.2.${n}`, isTrusted: true });
  const inTime = hasher.checksMax;
  assert.ok(inTime < slots);
  for (let n = 1; n <= inTime; n++) acquire(n);
  assert.throws(() => acquire(inTime + 1), { code: 'overloaded' });
});
