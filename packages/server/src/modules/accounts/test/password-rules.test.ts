/** The rules for new passwords (ASVS 5.0 6.2.1, 6.1.2, 6.2.5, 6.2.8, 6.2.9, 6.2.11). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommonPasswords } from '../common-passwords.ts';
import { acceptNewPassword, normalizePassword } from '../password-rules.ts';
import { DomainError } from '../../../foundation/errors.ts';

const email = { email: 'ada.lovelace+x@engines.example', canonicalEmail: 'ada.lovelace+x@engines.example' };
const common = new CommonPasswords();
const rules = { lengthMin: 15, contextWords: ['keyreeve', 'auth', 'example', 'com'], common };
const accept = (password: string, more: Partial<typeof rules> = {}): string =>
  acceptNewPassword(password, email, { ...rules, ...more });

/** @returns a password without repetitions that the rules would reject */
const mixed = (codePoints: number, alphabet: string): string => {
  const letters = [...alphabet];
  return Array.from({ length: codePoints }, (_, i) => letters[(i * i + (i >> 3)) % letters.length]).join('');
};
const letters = 'bdfhjlnprtvzcgkmqswxy';
const astral = '𝔸𝔹𝔻𝔼𝔽𝔾𝕀𝕁𝕂😀😁😂🤣😃';

function assertRejected(password: string, code: string, more: Partial<typeof rules> = {}): void {
  assert.throws(
    () => accept(password, more),
    (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.code, code);
      if (password.length > 3) assert.ok(!JSON.stringify([error.message, error.options]).includes(password));
      return true;
    },
  );
}

for (const [name, alphabet] of Object.entries({
  letters,
  astral,
  'two bytes each': 'äöüßéèêçñøåþðæ',
  'three bytes each': '漢字語文本日月火水木金土山川',
})) {
  test(`the minimum of 15 counts code points: ${name}`, { tags: ['asvs:6.2.1'] }, () => {
    assertRejected(mixed(14, alphabet), 'password_too_short');
    for (const length of [15, 16]) assert.equal(accept(mixed(length, alphabet)), mixed(length, alphabet));
  });
}

test('the minimum length applies to the normal form, which is hashed', () => {
  const decomposed = 'e\u0301'.repeat(1) + mixed(13, letters);
  assert.equal([...decomposed].length, 15);
  assertRejected(decomposed, 'password_too_short');
  assert.equal(accept(`${decomposed}z`), `é${mixed(13, letters)}z`);
  assert.equal(normalizePassword('e\u0301'), 'é');
  assert.equal(normalizePassword('ﬁ Ⅳ ①'), 'ﬁ Ⅳ ①', 'compatibility forms are distinct: NFC, not NFKC');
});

test('the configured minimum length applies, and the error states it', { tags: ['asvs:6.2.1'] }, () => {
  assert.equal(accept(mixed(8, letters), { lengthMin: 8 }), mixed(8, letters));
  assert.throws(() => accept(mixed(7, letters), { lengthMin: 8 }), {
    message: 'A password has at least 8 characters; this one has 7.',
  });
});

test(
  'passwords of up to 1,024 bytes are accepted in full; longer ones are rejected, never truncated',
  { tags: ['asvs:6.2.9'] },
  () => {
    for (const [password, bytes] of [
      [mixed(1_024, letters), 1_024],
      [mixed(512, 'äöüßéèêçñøåþðæ'), 1_024],
      [mixed(256, astral), 1_024],
      [mixed(64, letters), 64],
      [mixed(128, letters), 128],
    ] as const) {
      assert.equal(Buffer.byteLength(password), bytes);
      assert.equal(accept(password), password);
    }
    assertRejected(mixed(1_025, letters), 'password_too_long');
    assertRejected(`${mixed(511, 'äöüßéèêçñøåþðæ')}abc`, 'password_too_long');
  },
);

test('spaces and case are preserved, and no kind of character is required', { tags: ['asvs:6.2.5'] }, () => {
  for (const password of [
    '  wombat orbit velvet  ',
    'Wombat Orbit VELVET',
    'wombatorbitvelvet',
    '739105826417395',
    '!"§$%&/()=?*+#-.:',
    'пароль из слов и',
    '👩‍🚀🧑‍🔬🐨🪐🚂🌻🎻🥨🧊🪁🦔',
  ]) {
    assert.equal(accept(password), password);
  }
});

test(
  'control characters and unpaired surrogates are rejected, because HTTP Basic cannot carry them',
  { tags: ['asvs:6.2.5'] },
  () => {
    for (const control of ['\u0000', '\t', '\n', '\r', '\u001f', '\u007f', '\u0085', '\u009f']) {
      assertRejected(`wombat orbit${control} velvet`, 'password_invalid');
    }
    assertRejected('wombat orbit \ud83d velvet', 'password_invalid');
    assertRejected('wombat orbit velvet \udc00', 'password_invalid');
  },
);

const guessable: Readonly<Record<string, string>> = {
  'the product, twice': 'keyreeve-keyreeve-1',
  'the product in capitals': 'KEYREEVE KeyReeve 12',
  'the host': 'auth.example.com 2026',
  'the email': 'ada.lovelace+x@engines.example',
  'the local part and a year': 'ada.lovelace+x2026',
  'parts of the email': 'lovelace.engines1234',
  'one letter': 'aaaaaaaaaaaaaaaaaaaa',
  'two letters, repeated': 'abababababababababab',
  'seven letters, repeated': 'abcdefgabcdefgabcdefg',
  'a repeated short word, truncated': 'wombat!wombat!womb',
  'only spaces': ' '.repeat(20),
  'one emoji': '😀'.repeat(20),
};

for (const [name, password] of Object.entries(guessable)) {
  test(`rejected as easy to guess: ${name}`, { tags: ['asvs:6.2.11'] }, () =>
    assertRejected(password, 'password_context'),
  );
}

test('eight other characters beside such words suffice', () => {
  assert.equal(accept('keyreeve wombat9'), 'keyreeve wombat9');
  assertRejected('keyreeve wombat', 'password_context');
  assert.equal(accept('wombat9xwombat9xwombat9x'), 'wombat9xwombat9xwombat9x');
});

test('words of one or two letters do not count as context words', () => {
  const short = { email: 'x@io.example', canonicalEmail: 'x@io.example' };
  assert.equal(acceptNewPassword('xio xio xoxo ix oxi', short, rules), 'xio xio xoxo ix oxi');
});
