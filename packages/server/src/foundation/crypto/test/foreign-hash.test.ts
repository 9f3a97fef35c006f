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
import { costlyVectors, fastVectors, productVectors } from './product-hash-vectors.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const pepper = new KeyedHash(randomBytes(32));
const hasher = new PasswordHasher(pepper, cheap);
const slowVectors = [...foreignVectors, ...productVectors];
const acceptsFast = { acceptsFast: true };
const reasonOf = (text: string): string => {
  try {
    hasher.adopt(text, acceptsFast);
  } catch (error) {
    assert.ok(error instanceof ForeignHashError);
    return error.message;
  }
  return '';
};

for (const { name, password, hash, isTruncated = false } of [...slowVectors, ...costlyVectors, ...fastVectors]) {
  test(`${name}: only the right password matches, and the hash is outdated`, async () => {
    const stored = hasher.adopt(hash, acceptsFast);
    assert.equal(await hasher.verify(password, stored), true);
    assert.equal(await hasher.verify(`${password.slice(0, -1)}~`, stored), isTruncated);
    assert.equal(await hasher.verify(`~${password.slice(1)}`, stored), false);
    assert.equal(await hasher.verify('', stored), false);
    assert.equal(hasher.isOutdated(stored), true);
  });
}

test('the stored form contains neither the hash nor its digest, and matches nothing without the pepper', async () => {
  // Each has threads of its own.
  const other = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  for (const { password, hash } of [...slowVectors, ...fastVectors]) {
    const stored = hasher.adopt(hash, acceptsFast);
    const { digest } = parseForeignHash(hash);
    for (const secret of [hash, hash.split('$').at(-1) ?? '', digest.toString('base64').replace(/=+$/, '')])
      assert.ok(!stored.includes(secret), stored);
    assert.match(stored, /^\$imported\$[a-z0-9-]+\$[a-z0-9=,]+,keyid=cDE\$[A-Za-z0-9+/]*\$[A-Za-z0-9+/]{43}$/);
    assert.equal(await other.verify(password, stored), false);
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

for (const { name, password, hash } of fastVectors) {
  test(`${name}: the fast hash is imported only on request, and can be wrapped in Argon2id`, async () => {
    const scheme = parseForeignHash(hash).recipe.scheme;
    const reason = `it is a fast hash (${scheme}); --accept-weak imports it, and --wrap wraps it in Argon2id`;
    assert.throws(() => hasher.adopt(hash), { message: reason });
    const stored = await hasher.adoptWrapped(hash);
    assert.ok(stored.startsWith(`$imported$wrapped-${scheme}$`), stored);
    assert.match(stored, /,m=64,t=1,p=1,l=\d+,keyid=/);
    assert.equal(await hasher.verify(password, stored), true);
    assert.equal(await hasher.verify(`~${password.slice(1)}`, stored), false);
    assert.equal(hasher.isOutdated(stored), true);
    assert.notEqual(await hasher.adoptWrapped(hash), stored);
  });
}

test('a hash that is not fast is not wrapped', async () => {
  const [vector] = foreignVectors;
  assert.ok(vector);
  const { hash } = vector;
  assert.equal(await hasher.adoptWrapped(hash), hasher.adopt(hash));
});

test('a pepper that the other system appended to passwords is needed, and is stored encrypted', async () => {
  // Made with bcrypt of Python, as Devise does.
  const hash = '$2a$04$OpsgGwptYTGoDSI0q56/Mem7nt2OHZSKKTNEdDyLxS.SeHqBQBNfa';
  const password = 'wombat orbit velvet 42';
  const bcryptSuffix = 'a-pepper-of-the-app';
  const stored = hasher.adopt(hash, { bcryptSuffix });
  assert.equal(await hasher.verify(password, stored), true);
  assert.equal(await hasher.verify('wombat orbit velvet 43', stored), false);
  assert.equal(await hasher.verify(password, hasher.adopt(hash)), false);
  assert.equal(await hasher.verify(`${password}${bcryptSuffix}`, hasher.adopt(hash)), true);
  assert.ok(!Buffer.from(stored.split('$')[4] ?? '', 'base64').includes(bcryptSuffix));
  const other = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  await assert.rejects(other.verify(password, stored));
  // Longer than 52 characters: bcrypt sees the beginning of the pepper.
  const long = hasher.adopt('$2a$04$6aexpeMkQT8st3l0Go1Ivu6NWAxu7gsY1o1rkb2nRzv1JAkDCgoBu', { bcryptSuffix });
  assert.equal(await hasher.verify('x'.repeat(70), long), true);
  assert.equal(await hasher.verify('x'.repeat(69), long), false);
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
  const small = new PasswordHasher(pepper, cheap, { concurrency: 1 });
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
const digest86 = 'A'.repeat(86);
const base64Of = (bytes: number): string => randomBytes(bytes).toString('base64');
const fbscrypt = (keyBytes: number, digestBytes: number): string =>
  `$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=${base64Of(keyBytes)}$c2FsdA==$${base64Of(digestBytes)}`;

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
  [`pbkdf2:sha256:1500000$salt$${hex(64)}`, `pbkdf2:sha256:1500001$salt$${hex(64)}`, /costs too much/],
  [`pbkdf2:sha1:1500000$salt$${hex(64)}`, `pbkdf2:sha1:1500001$salt$${hex(20)}`, /costs too much/],
  [`$5$rounds=1000$salt$${digest43}`, `$5$rounds=999$salt$${digest43}`, /999 rounds, fewer than 1000/],
  [`$6$rounds=1048576$salt$${digest86}`, `$6$rounds=1048577$salt$${digest86}`, /costs too much: its rounds is 1048577/],
  [`$6$salt$${digest86}`, `$6$salt$${digest43}`, /digest has a wrong length/],
  [`$P$I${'s'.repeat(8)}${salt22}`, `$P$J${'s'.repeat(8)}${salt22}`, /costs too much: its rounds is 2097152/],
  [`$S$I${'s'.repeat(8)}${digest43}`, `$S$J${'s'.repeat(8)}${digest43}`, /costs too much/],
  [`{SHA}${'A'.repeat(27)}=`, `{SHA}${'A'.repeat(26)}`, /digest has 19 bytes, not 20/],
  [fbscrypt(32, 32), fbscrypt(32, 31), /digest has 31 bytes, and the signer key 32/],
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

/** The reasons contain no part of the hash. */
const refused: readonly (readonly [text: string, reason: string])[] = [
  ['', 'plain password'],
  ['wombat orbit velvet 42', 'plain password'],
  ['Zauberstab', 'plain password'],
  ['{noop}wombat orbit velvet 42', 'plain password'],
  ['{CLEARTEXT}wombat', 'plain password'],
  ['$plaintext$wombat', 'plain password'],
  ['5f4dcc3b5aa765d61d8327deb882cf99', 'MD5 without rounds'],
  ['5f4dcc3b5aa765d61d8327deb882cf99:salt', 'MD5 without rounds'],
  ['md5$salt$5f4dcc3b5aa765d61d8327deb882cf99', 'MD5 without rounds'],
  ['{MD5}X03MO1qnZdYdgyfeuILPmQ==', 'MD5 without rounds'],
  ['{SMD5}X03MO1qnZdYdgyfeuILPmXNhbHQ=', 'MD5 without rounds'],
  ['U$S$9abcdefgh', 'hash of MD5'],
  ['$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7', 'yescrypt'],
  ['$2x$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', '2x'],
  ['{crypt}rqXexS6ZhobKA', 'DES'],
  ['$3$$8846f7eaee8fb117ad06bdd830b7586c', 'MD4'],
  ['$hmac-sha256$YQ==$YQ==', 'HMAC with a key'],
  [`${hex(32)}:salt:2`, 'Magento'],
  ['$1$salt$qJH7.N4xYta3aEG/dfqo', 'not a known one'],
  ['$6$saltsalt$abcdefghijklmnop', 'not a known one'],
  ['$2b$4$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'not a known one'],
  ['$2b$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe', 'not a known one'],
  [`${argon2('m=64,t=1,p=1')}\n`, 'not a known one'],
  [argon2('m=64,t=1,p=1').replace('argon2id', 'argon2x'), 'not a known one'],
  [`pbkdf2:md5:1000$salt$${hex(16)}`, 'not a known one'],
  ['{"type":"otp"}', 'not a password credential of Keycloak'],
  ['{"secretData":"{}","credentialData":"{"}', 'not a password credential of Keycloak'],
  [hasher.adopt(argon2('m=64,t=1,p=1')), 'not a known one'],
  [argon2('m=64,t=1,p=1', 'A'.repeat(5_000)), 'longer than 4096 characters'],
];

test('a hash that is never imported is refused by name, and the reason contains no part of it', () => {
  for (const [text, reason] of refused) {
    const actual = reasonOf(text);
    assert.ok(actual.includes(reason), `${text.slice(0, 40)}: ${actual}`);
    for (const part of text.split(/[$:{}]/).filter((each) => each.length > 8))
      assert.ok(!actual.includes(part), actual);
  }
});
