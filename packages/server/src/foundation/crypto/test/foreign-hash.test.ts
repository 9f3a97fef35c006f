/** Password hashes of other systems: they are verified, stored under the pepper, and bounded in cost. */
import assert from 'node:assert/strict';
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { ForeignHashError } from '../foreign-hash.ts';
import { parseForeignHash } from '../foreign-hash-formats.ts';
import { KeyedHash } from '../keyed-hash.ts';
import { PasswordHasher } from '../password.ts';
import { foreignVectors } from './foreign-hash-vectors.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const pepper = new KeyedHash(randomBytes(32));
const hasher = new PasswordHasher(pepper, cheap);
const reasonOf = (text: string): string => {
  try {
    hasher.adopt(text);
  } catch (error) {
    assert.ok(error instanceof ForeignHashError);
    return error.message;
  }
  return '';
};

for (const { name, password, hash } of foreignVectors) {
  test(`${name}: only the right password matches, and the hash is outdated`, async () => {
    const stored = hasher.adopt(hash);
    assert.equal(await hasher.verify(password, stored), true);
    assert.equal(await hasher.verify(`${password.slice(0, -1)}~`, stored), password.length > 72);
    assert.equal(await hasher.verify(`~${password.slice(1)}`, stored), false);
    assert.equal(await hasher.verify('', stored), false);
    assert.equal(hasher.isOutdated(stored), true);
  });
}

test('the stored form contains neither the hash nor its digest, and matches nothing without the pepper', async () => {
  for (const { password, hash } of foreignVectors) {
    const stored = hasher.adopt(hash);
    const { digest } = parseForeignHash(hash);
    for (const secret of [hash, hash.split('$').at(-1) ?? '', digest.toString('base64').replace(/=+$/, '')])
      assert.ok(!stored.includes(secret), stored);
    assert.match(stored, /^\$imported\$[a-z0-9-]+\$[a-z0-9=,]+,keyid=cDE\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{43}$/);
    assert.equal(await new PasswordHasher(new KeyedHash(randomBytes(32)), cheap).verify(password, stored), false);
  }
});

test('bcrypt compares the first 72 bytes of a password', async () => {
  const { hash = '' } = foreignVectors.find(({ name }) => name === 'bcrypt of 80 characters') ?? {};
  const stored = hasher.adopt(hash);
  assert.equal(await hasher.verify('x'.repeat(72), stored), true);
  assert.equal(await hasher.verify(`${'x'.repeat(72)}y`, stored), true);
  assert.equal(await hasher.verify('x'.repeat(71), stored), false);
  assert.equal(await hasher.verify(`${'x'.repeat(71)}y`, stored), false);
});

test('an imported hash is verified with the password as typed, a native hash with its normal form', async () => {
  const typed = 'cre\u0300me bru\u0302le\u0301e';
  const digest = pbkdf2Sync(typed, 'saltsalt', 10, 32, 'sha256').toString('hex');
  const stored = hasher.adopt(`pbkdf2:sha256:10$saltsalt$${digest}`);
  assert.equal(await hasher.verify(typed.normalize('NFC'), stored), false);
  assert.equal(await hasher.verify(typed.normalize('NFC'), stored, typed), true);
  const ours = await hasher.hash(typed.normalize('NFC'));
  assert.equal(await hasher.verify(typed.normalize('NFC'), ours, typed), true);
});

test('an account without a password takes one hash, and no password matches', async () => {
  const { hashed } = hasher.stats;
  assert.equal(await hasher.verify('', ''), false);
  assert.equal(await hasher.verify('wombat orbit velvet 42', ''), false);
  assert.equal(hasher.stats.hashed, hashed + 2);
});

test('imported hashes use the same bounded queue', async () => {
  const { hash = '' } = foreignVectors.find(({ name }) => name === 'pbkdf2-sha256, passlib') ?? {};
  const small = new PasswordHasher(pepper, cheap, 1);
  const stored = small.adopt(hash);
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => small.verify('x', stored)));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 51);
  assert.deepEqual(small.stats, { running: 0, waiting: 0, hashed: 51, refused: 49 });
});

const salt22 = 'A'.repeat(22);
const digest43 = 'A'.repeat(43);
const argon2 = (parameters: string, salt = salt22, digest = digest43): string =>
  `$argon2id$v=19$${parameters}$${salt}$${digest}`;
const hex = (bytes: number): string => 'ab'.repeat(bytes);

/** Values at each bound and beyond it. */
const bounded: readonly (readonly [within: string, beyond: string, reason: RegExp])[] = [
  [argon2(`m=${limits.importedArgon2KibMax},t=4,p=1`), argon2('m=262145,t=1,p=1'), /costs too much: m is 262145/],
  [argon2('m=1024,t=1024,p=1'), argon2('m=1024,t=1025,p=1'), /costs too much: m·t/],
  [argon2('m=256,t=1,p=16'), argon2('m=256,t=1,p=17'), /costs too much: p is 17/],
  [argon2('m=128,t=1,p=16'), argon2('m=127,t=1,p=16'), /not valid for Argon2/],
  [argon2('p=1,m=64,t=1'), argon2('p=0,m=64,t=1'), /not valid for Argon2/],
  [argon2('m=64,t=1,p=1'), argon2('m=64,t=0,p=1'), /not valid for Argon2/],
  [argon2('m=64,t=1,p=1'), argon2('m=64,t=1,p=1').replace('v=19', 'v=20'), /version 20/],
  [argon2('m=64,t=1,p=1', 'A'.repeat(11)), argon2('m=64,t=1,p=1', 'A'.repeat(10)), /not valid for Argon2/],
  [argon2('m=64,t=1,p=1', salt22, salt22), argon2('m=64,t=1,p=1', salt22, 'A'.repeat(20)), /digest has 15 bytes/],
  [argon2('m=64,t=1,p=1'), argon2('m=64,t=1,p=1,keyid=AAAA'), /parameter keyid is not supported/],
  [argon2('m=64,t=1,p=1'), argon2('m=64,t=1,p=1,m=64'), /once each/],
  [argon2('m=64,t=1,p=1'), argon2('m=64,t=1'), /once each/],
  [argon2('m=64,t=1,p=1'), argon2('m=-64,t=1,p=1'), /not a number/],
  [`$2b$14$${salt22}${'A'.repeat(31)}`, `$2b$15$${salt22}${'A'.repeat(31)}`, /costs too much: its cost is 15/],
  [`$2y$04$${salt22}${'A'.repeat(31)}`, `$2y$03$${salt22}${'A'.repeat(31)}`, /not valid for bcrypt/],
  [`$scrypt$ln=18,r=8,p=1$${salt22}$${digest43}`, `$scrypt$ln=18,r=8,p=2$${salt22}$${digest43}`, /costs too much/],
  [
    `$scrypt$ln=15,r=1,p=1$${salt22}$${digest43}`,
    `$scrypt$ln=16,r=1,p=1$${salt22}$${digest43}`,
    /not valid for scrypt/,
  ],
  [`scrypt:1024:8:1$salt$${hex(64)}`, `scrypt:1000:8:1$salt$${hex(64)}`, /not valid for scrypt/],
  [`scrypt:1024:8:16$salt$${hex(64)}`, `scrypt:1024:8:17$salt$${hex(64)}`, /costs too much: p is 17/],
  [`scrypt:1024:32:1$salt$${hex(64)}`, `scrypt:1024:33:1$salt$${hex(64)}`, /costs too much: r is 33/],
  [`scrypt:1024:8:1$salt$${hex(128)}`, `scrypt:1024:8:1$salt$${hex(129)}`, /digest has 129 bytes/],
  [`pbkdf2:sha512:1500000$salt$${hex(64)}`, `pbkdf2:sha512:1500001$salt$${hex(64)}`, /costs too much/],
  [`pbkdf2:sha256:750000$salt$${hex(64)}`, `pbkdf2:sha256:750001$salt$${hex(64)}`, /costs too much/],
  [`pbkdf2:sha1:750000$salt$${hex(40)}`, `pbkdf2:sha1:500001$salt$${hex(41)}`, /costs too much/],
  [`pbkdf2:sha1:1$salt$${hex(20)}`, `pbkdf2:sha1:0$salt$${hex(20)}`, /not valid for PBKDF2/],
  [`pbkdf2:sha1:1$${'s'.repeat(128)}$${hex(20)}`, `pbkdf2:sha1:1$${'s'.repeat(129)}$${hex(20)}`, /salt has 129 bytes/],
  [
    `$pbkdf2-sha256$i=1,l=32$AAAA$${digest43}`,
    `$pbkdf2-sha256$i=1,l=31$AAAA$${digest43}`,
    /not have the stated length/,
  ],
  [`$pbkdf2-sha256$1$AAAA$${digest43}`, `$pbkdf2-sha256$1$AAAAA$${digest43}`, /is truncated/],
];
for (const [within, beyond, reason] of bounded) {
  test(`a hash beyond a bound is rejected with the reason: ${reason.source}`, () => {
    assert.equal(reasonOf(within), '');
    assert.match(reasonOf(beyond), reason);
  });
}

test('an unknown format is rejected, and the reason contains no part of the hash', () => {
  for (const text of [
    '',
    'wombat orbit velvet 42',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '$1$salt$qJH7.N4xYta3aEG/dfqo/0',
    '$6$saltsalt$abcdefghijklmnop',
    '$2x$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2b$4$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2b$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe',
    ` ${argon2('m=64,t=1,p=1')}`,
    `${argon2('m=64,t=1,p=1')}\n`,
    argon2('m=64,t=1,p=1').replace('argon2id', 'argon2x'),
    `pbkdf2:md5:1000$salt$${hex(16)}`,
    hasher.adopt(argon2('m=64,t=1,p=1')),
    argon2('m=64,t=1,p=1', 'A'.repeat(2_000)),
  ]) {
    assert.equal(
      reasonOf(text),
      'its format is not a known one of Argon2, bcrypt, scrypt or PBKDF2',
      text.slice(0, 40),
    );
  }
});
