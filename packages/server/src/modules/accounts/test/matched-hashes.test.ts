/** A sign-in computes the same hashes for every email address, imported or not. The tests count hashes, not time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { KeyedHash } from '../../../foundation/crypto/keyed-hash.ts';
import { matchedRecipes, PasswordHasher } from '../../../foundation/crypto/password.ts';
import { foreignVectors } from '../../../foundation/crypto/test/foreign-hash-vectors.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const recipeOf = (stored: string): string => stored.slice(0, stored.indexOf(',keyid='));

test('a sign-in computes the same hashes for imported, native and unknown accounts', async () => {
  const hasher = new PasswordHasher(new KeyedHash(randomBytes(32)), cheap);
  const native = await hasher.hash('seven quiet lanterns of tin');
  for (const { name, password, hash } of foreignVectors) {
    const stored = hasher.adopt(hash);
    const recipes = [recipeOf(stored), recipeOf(hasher.adopt(foreignVectors[0]?.hash ?? ''))];
    const matched = [...new Set(recipes)];
    const counted = async (typed: string, phc: string | undefined): Promise<[boolean, number]> => {
      const { hashed } = hasher.stats;
      return [await hasher.verifyAlike(typed, phc, typed, matched), hasher.stats.hashed - hashed];
    };
    const work = matched.length + 1;
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

test('recipes are matched from the cheapest on, while their total cost is at most the limit for one hash', () => {
  const bcrypt = (cost: number): string => `$imported$bcrypt$c=${cost},l=31`;
  const pbkdf2 = (rounds: number): string => `$imported$pbkdf2-sha256$i=${rounds},l=32`;
  const scrypt = '$imported$scrypt$n=131072,r=8,p=1,l=64';
  const argon2 = '$imported$argon2id$v=19,m=65536,t=3,p=4,l=32';
  assert.deepEqual(matchedRecipes([]), []);
  assert.deepEqual(matchedRecipes([bcrypt(14)]), [bcrypt(14)]);
  assert.deepEqual(matchedRecipes([bcrypt(14), bcrypt(10)]), [bcrypt(10)]);
  assert.deepEqual(matchedRecipes([argon2, bcrypt(12), pbkdf2(600_000)]), [argon2, bcrypt(12), pbkdf2(600_000)]);
  assert.deepEqual(matchedRecipes([scrypt, pbkdf2(1_500_000)]), [scrypt]);
});
