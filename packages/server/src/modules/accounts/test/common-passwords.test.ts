/** The list of common and breached passwords, and the new passwords that it rejects (ASVS 6.2.4, 6.2.12). */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errors, limits } from '@keyreeve/contract';
import { digestsOf, listedPasswords } from '../../../../../../scripts/common-passwords.ts';
import { CommonPasswords } from '../common-passwords.ts';
import { acceptNewPassword } from '../password-rules.ts';
import { randomBase62 } from '../../../foundation/crypto/secret.ts';
import { DomainError } from '../../../foundation/errors.ts';

const common = new CommonPasswords();
const email = { email: 'ada@engines.test', canonicalEmail: 'ada@engines.test' };
/** Most common first. */
const listed = listedPasswords();
const fileUrl = new URL('../common-passwords/digests.bin', import.meta.url);

/** @returns the code of the error, or undefined for an accepted password */
function errorCodeOf(password: string, lengthMin = 15): string | undefined {
  try {
    acceptNewPassword(password, email, { lengthMin, contextWords: ['keyreeve', 'localhost'], common });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof DomainError);
    return error.code;
  }
}

const asLongAs = (lengthMin: number): string[] => listed.filter((password) => [...password].length >= lengthMin);

test('the list is up to date with the public one (npm run passwords)', { tags: ['asvs:6.2.12'] }, () => {
  assert.ok(listed.length > 470_000 && asLongAs(15).length > 9_700, 'the public list is complete');
  assert.ok(readFileSync(fileUrl).equals(digestsOf(listed)));
});

for (const lengthMin of [limits.passwordLengthFloor, 15]) {
  test(
    `with a minimum of ${lengthMin} characters, the 3,000 most common passwords of that length or more are rejected`,
    { tags: ['asvs:6.2.4'] },
    () => {
      const known = asLongAs(lengthMin).slice(0, 3_000);
      assert.equal(known.length, 3_000);
      const codes = known.map((password) => errorCodeOf(password, lengthMin));
      assert.deepEqual(
        known.filter((_, index) => !['password_common', 'password_context'].includes(codes[index] ?? '')),
        [],
      );
      // Most are rejected by the list, not because they repeat one letter.
      assert.ok(codes.filter((code) => code === 'password_common').length > 2_500);
    },
  );
}

test('every password of the list is found', { tags: ['asvs:6.2.12'] }, () => {
  assert.deepEqual(
    listed.filter((password) => !common.has(password)),
    [],
  );
});

test('10,000 random passwords of 20 characters are accepted', () => {
  const rejected = Array.from({ length: 10_000 }, () => randomBase62(20)).filter((password) => errorCodeOf(password));
  assert.deepEqual(rejected, []);
});

test('10,000 random phrases of four words are accepted', () => {
  const words = listed.filter((password) => /^[a-z]{8}$/.test(password)).slice(0, 5_000);
  const phrase = (): string => Array.from({ length: 4 }, () => words[randomInt(words.length)]).join(' ');
  const rejected = Array.from({ length: 10_000 }, phrase).filter((password) => errorCodeOf(password));
  assert.deepEqual(rejected, []);
});

test('a listed password is rejected in any case', () => {
  for (const password of ['1q2w3e4r5t6y7u8i', '1Q2W3E4R5T6Y7U8I', '1q2W3e4R5t6Y7u8I'])
    assert.equal(errorCodeOf(password), 'password_common', password);
});

test('a repeated listed password is rejected, with separators and truncated as well', { tags: ['asvs:6.2.12'] }, () => {
  for (const password of [
    'passwordpassword',
    'PasswordPassword',
    'password password',
    'password-password-password',
    'password1password1',
    'sunshine!sunshine!suns',
    'iloveyou, iloveyou, iloveyou',
    '¡password! ¿password?',
  ]) {
    assert.equal(errorCodeOf(password), 'password_common', password);
  }
  assert.equal(errorCodeOf('wombat9orbitwombat9orbit'), undefined, 'an unlisted password may be repeated');
});

test('a password that contains a listed one is accepted', () => {
  for (const password of ['password wombat orbit', 'my password is a wombat', '12$%34&*56()78!@'])
    assert.equal(errorCodeOf(password), undefined, password);
});

test('the error states the reason and does not contain the password', () => {
  const { status, title, meaning } = errors.password_common;
  assert.equal(status, 400);
  assert.match(`${title}. ${meaning}`, /too common.*list of breached or frequent passwords/);
  assert.throws(
    () => acceptNewPassword('passwordpassword', email, { lengthMin: 15, contextWords: [], common }),
    (error) => error instanceof DomainError && !JSON.stringify([error.message, error.options]).includes('passwordpass'),
  );
});
