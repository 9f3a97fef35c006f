/** A sign-in does the same work for every email address, imported or not. The tests count hashes and units, not time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { algorithmOf, unitsOf, type ForeignKind } from '../../../foundation/crypto/foreign-hash.ts';
import type { HashingRequest } from '../../../foundation/crypto/hashing-thread.ts';
import { matchedKinds, paddingOf, workBeyondBound } from '../../../foundation/crypto/imported-work.ts';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import { decodeKind } from '../../../foundation/crypto/stored-hash.ts';
import { foreignVectors } from '../../../foundation/crypto/test/foreign-hash-vectors.ts';
import { fastVectors, productVectors } from '../../../foundation/crypto/test/product-hash-vectors.ts';
import { watchMessages } from '../../../../test-kit/thread-messages.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const recipeOf = (stored: string): string => stored.slice(0, stored.indexOf(',keyid='));
const kindOf = (recipe: string): ForeignKind => {
  const kind = decodeKind(recipe);
  assert.ok(kind, recipe);
  return kind;
};

test('a sign-in computes the same hashes for imported, native and unknown accounts', async () => {
  const hasher = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  const native = await hasher.hash('seven quiet lanterns of tin');
  const first = recipeOf(hasher.adopt(foreignVectors[0]?.hash ?? ''));
  for (const { name, password, hash } of [...foreignVectors, ...productVectors, ...fastVectors]) {
    const stored = hasher.adopt(hash, { acceptsFast: true });
    const kinds = matchedKinds([recipeOf(stored), first]);
    const counted = async (typed: string, phc: string | undefined): Promise<[boolean, number]> => {
      const { hashed } = hasher.stats;
      return [await hasher.verifyAlike(typed, phc, typed, kinds), hasher.stats.hashed - hashed];
    };
    const work = kinds.length + 1;
    assert.deepEqual(await counted(password, stored), [true, work], name);
    assert.deepEqual(await counted(`~${password.slice(1)}`, stored), [false, work], name);
    for (const phc of [undefined, '']) assert.deepEqual(await counted(password, phc), [false, work], name);
    assert.deepEqual(await counted('seven quiet lanterns of tin', native), [true, work], name);
    assert.deepEqual(await counted(password, native), [false, work], name);
    // A hash that was imported just now, or that costs too much to match, is verified as well.
    assert.equal(await hasher.verifyAlike(password, stored, password, []), true, name);
    const wrong = `~${password.slice(1)}`;
    assert.equal(await hasher.verifyAlike(wrong, stored, wrong, []), false, name);
  }
});

test('a typed password with several readings takes the same hashes for every account', async () => {
  const hasher = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  const typed = ` it's <a> "password" \\ `;
  const stored = productVectors.map(({ hash }) => hasher.adopt(hash));
  const kinds = matchedKinds(stored.map(recipeOf));
  const counts = new Set<number>();
  for (const phc of [undefined, await hasher.hash(typed), ...stored]) {
    const { hashed } = hasher.stats;
    await hasher.verifyAlike(typed, phc, typed, kinds);
    counts.add(hasher.stats.hashed - hashed);
  }
  assert.equal(counts.size, 1, [...counts].join(', '));
});

const imported = (text: string): string => `$imported$${text}`;

/** The kinds of real installations: each has the same algorithm in several costs. */
const installations: readonly (readonly [name: string, recipes: readonly string[]])[] = [
  ['Django 5.0 to 5.2', [720_000, 870_000, 1_000_000].map((i) => `pbkdf2-sha256$i=${i},l=32`)],
  [
    'Django 1.7 to 3.0',
    [15_000, 20_000, 24_000, 30_000, 36_000, 100_000, 150_000, 180_000].map((i) => `pbkdf2-sha256$i=${i},l=32`),
  ],
  ['PBKDF2 with several blocks', ['pbkdf2-sha1$i=1000,l=64', 'pbkdf2-sha1$i=20000,l=20']],
  ['bcrypt', ['bcrypt$c=4,l=31', 'bcrypt-sha256-hex$c=12,l=31', 'bcrypt-suffix$c=10,l=31', 'bcrypt$c=14,l=31']],
  ['WordPress', ['bcrypt-wordpress$c=10,l=31', 'bcrypt-wordpress$c=12,l=31']],
  [
    'Argon2id',
    [
      'argon2id$v=19,m=65536,t=3,p=4,l=32',
      'argon2id$v=16,m=1000,t=1,p=1,l=32',
      'wrapped-sha1$i=1,o=0,m=47104,t=1,p=1,l=20',
    ],
  ],
  ['Argon2i', ['argon2i$v=19,m=256,t=2,p=2,l=32', 'argon2i$v=19,m=10007,t=3,p=1,l=32']],
  [
    'scrypt',
    [
      'scrypt$n=16384,r=8,p=5,l=64',
      'scrypt-nfkc$n=16384,r=16,p=1,l=64',
      'scrypt-firebase$n=16384,r=8,p=1,l=64',
      'scrypt$n=65536,r=8,p=1,l=32',
    ],
  ],
  ['crypt(3)', ['sha512-crypt$i=5000,l=64', 'sha512-crypt$i=656000,l=64']],
  ['WordPress and older phpass', ['phpass$i=8192,l=16', 'phpass$i=131072,l=16']],
  ['Drupal 7', ['drupal7$i=32768,l=32', 'drupal7$i=65536,l=32']],
];
for (const [name, texts] of installations) {
  test(`${name}: each kind is padded to the work of the costliest one`, () => {
    const recipes = texts.map(imported);
    const [matched, ...others] = matchedKinds(recipes);
    assert.ok(matched);
    assert.deepEqual(others, []);
    assert.equal(workBeyondBound(recipes), undefined);
    const largest = Math.max(...recipes.map((recipe) => unitsOf(kindOf(recipe))));
    assert.equal(unitsOf(matched.kind), largest);
    for (const recipe of recipes) {
      const kind = kindOf(recipe);
      const padding = paddingOf(kind, matched.kind);
      for (const each of padding) assert.equal(algorithmOf(each.scheme), algorithmOf(padding[0]?.scheme ?? 'bcrypt'));
      const units = padding.reduce((sum, each) => sum + unitsOf(each), unitsOf(kind));
      // The smallest hash of Argon2 and scrypt is more than one unit.
      assert.ok(largest - units >= 0 && largest - units < 64, `${recipe}: ${units} of ${largest}`);
      assert.equal(padding.length === 0, unitsOf(kind) === largest, recipe);
    }
  });
}

test('the padding is computed by the thread, in the same turn as the hash of the account', async (t) => {
  const requests: { units: number }[] = [];
  watchMessages(t, (_, message) => {
    const { recipe, padding } = message as HashingRequest;
    requests.push({ units: [recipe, ...padding].reduce((sum, kind) => sum + unitsOf(kind), 0) });
    return true;
  });
  const hasher = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  const recipes = [1_000, 2_000, 5_000].map((i) => imported(`pbkdf2-sha256$i=${i},l=32`));
  const kinds = matchedKinds(recipes);
  const stored = recipes.map((recipe) => `${recipe},keyid=cDE$c2FsdA$${'A'.repeat(43)}`);
  for (const phc of [undefined, await hasher.hash('x'), ...stored]) {
    requests.length = 0;
    assert.equal(await hasher.verifyAlike('wrong', phc, 'wrong', kinds), false);
    assert.deepEqual(requests, [{ units: 5_000 }, { units: 64 }]);
  }
  await hasher.close();
});

test('kinds are matched from the cheapest on, while their total cost is at most the limit for one hash', () => {
  const bcrypt = (cost: number): string => imported(`bcrypt$c=${cost},l=31`);
  const pbkdf2 = (rounds: number): string => imported(`pbkdf2-sha256$i=${rounds},l=32`);
  const scrypt = imported('scrypt$n=131072,r=8,p=1,l=64');
  const argon2 = imported('argon2id$v=19,m=65536,t=3,p=4,l=32');
  const matched = (...recipes: string[]): ForeignKind[] => matchedKinds(recipes).map(({ kind }) => kind);
  assert.deepEqual(matched(), []);
  assert.deepEqual(matched(bcrypt(14)), [kindOf(bcrypt(14))]);
  assert.deepEqual(matched(bcrypt(14), bcrypt(10)), [kindOf(bcrypt(14))]);
  assert.deepEqual(matched(argon2, bcrypt(12), pbkdf2(600_000)), [argon2, bcrypt(12), pbkdf2(600_000)].map(kindOf));
  assert.deepEqual(matched(scrypt, pbkdf2(1_500_000)), [kindOf(scrypt)]);
  // Of an algorithm, the costliest kind within the bound is matched.
  assert.deepEqual(matched(scrypt, pbkdf2(1_500_000), pbkdf2(600_000)), [pbkdf2(600_000), scrypt].map(kindOf));
  // A kind of a later version does not stop the sign-ins of others.
  assert.deepEqual(matched(imported('blake9$x=1,l=32'), bcrypt(10)), [kindOf(bcrypt(10))]);

  assert.equal(workBeyondBound([argon2, bcrypt(12), pbkdf2(600_000)]), undefined);
  assert.deepEqual(workBeyondBound([scrypt, pbkdf2(1_500_000), pbkdf2(600_000)]), {
    schemes: ['pbkdf2-sha256'],
    times: 1.5,
  });
});
