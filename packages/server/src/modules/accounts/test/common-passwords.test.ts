/** The list of common and breached passwords, and what a new password has to do with it (ASVS 6.2.4, 6.2.12). */
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
const email = { address: 'ada@engines.test', key: 'ada@engines.test' };
/** In the order of how common they are. */
const listed = listedPasswords();
const fileUrl = new URL('../common-passwords/digests.bin', import.meta.url);

/** @returns the code of the refusal, undefined for a password that is accepted */
function refusalOf(password: string, lengthMin = 15): string | undefined {
  try {
    acceptNewPassword(password, email, { lengthMin, contextWords: ['keyreeve', 'localhost'], common });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof DomainError);
    return error.code;
  }
}

const asLongAs = (lengthMin: number): string[] => listed.filter((password) => [...password].length >= lengthMin);

test('the list is what its script makes of the public one (npm run passwords)', { tags: ['asvs:6.2.12'] }, () => {
  assert.ok(listed.length > 470_000 && asLongAs(15).length > 9_700, 'the public list is read');
  assert.ok(readFileSync(fileUrl).equals(digestsOf(listed)));
});

for (const lengthMin of [limits.passwordLengthFloor, 15]) {
  test(
    `the 3,000 most common passwords of ${lengthMin} characters or more are refused where that is the minimum`,
    { tags: ['asvs:6.2.4'] },
    () => {
      const known = asLongAs(lengthMin).slice(0, 3_000);
      assert.equal(known.length, 3_000);
      const codes = known.map((password) => refusalOf(password, lengthMin));
      assert.deepEqual(
        known.filter((_, index) => !['password_common', 'password_context'].includes(codes[index] ?? '')),
        [],
      );
      // Most because of the list, and not because they repeat one letter.
      assert.ok(codes.filter((code) => code === 'password_common').length > 2_500);
    },
  );
}

test('every password of the list is found, from the first to the last', { tags: ['asvs:6.2.12'] }, () => {
  assert.deepEqual(
    listed.filter((password) => !common.has(password)),
    [],
  );
});

test('10,000 random passwords of 20 characters are accepted', () => {
  const refused = Array.from({ length: 10_000 }, () => randomBase62(20)).filter((password) => refusalOf(password));
  assert.deepEqual(refused, []);
});

test('10,000 random phrases of four words are accepted', () => {
  const words = listed.filter((password) => /^[a-z]{8}$/.test(password)).slice(0, 5_000);
  const phrase = (): string => Array.from({ length: 4 }, () => words[randomInt(words.length)]).join(' ');
  const refused = Array.from({ length: 10_000 }, phrase).filter((password) => refusalOf(password));
  assert.deepEqual(refused, []);
});

test('the case of letters makes no other password of one on the list', () => {
  for (const password of ['1q2w3e4r5t6y7u8i', '1Q2W3E4R5T6Y7U8I', '1q2W3e4R5t6Y7u8I'])
    assert.equal(refusalOf(password), 'password_common', password);
});

test(
  'a repeated password of the list is refused, also one that is cut off or set apart',
  { tags: ['asvs:6.2.12'] },
  () => {
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
      assert.equal(refusalOf(password), 'password_common', password);
    }
    assert.equal(refusalOf('wombat9orbitwombat9orbit'), undefined, 'one that isn’t on the list may be repeated');
  },
);

test('a password that only begins with one of the list, or has one in it, is another', () => {
  for (const password of ['password wombat orbit', 'my password is a wombat', '12$%34&*56()78!@'])
    assert.equal(refusalOf(password), undefined, password);
});

test('whoever is refused is told why, and not with the password', () => {
  const { status, title, meaning } = errors.password_common;
  assert.equal(status, 400);
  assert.match(`${title}. ${meaning}`, /common one.*list of breached or frequent passwords/);
  assert.throws(
    () => acceptNewPassword('passwordpassword', email, { lengthMin: 15, contextWords: [], common }),
    (error) => error instanceof DomainError && !JSON.stringify([error.message, error.options]).includes('passwordpass'),
  );
});
