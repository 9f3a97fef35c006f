/** The format of API keys, which decides whether a text is looked up in the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyPattern, limits } from '@keyreeve/contract';
import { formOf, makeKey, mayBeImported } from '../key-format.ts';
import { checksum } from '../../../foundation/crypto/secret.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { RefreshTokens } from '../../tokens/refresh-token.ts';

const prefixes = ['krv', 'acme', 'acme_live'];
const checked = (unchecked: string): string => unchecked + checksum(unchecked);
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('keys with an accepted prefix have the format, and keys with other prefixes do not', () => {
  for (const prefix of prefixes) {
    const key = makeKey(prefix).reveal();
    assert.match(key, new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
    assert.match(key, new RegExp(`^${keyPattern(prefixes)}$`));
    assert.equal(formOf(key, prefixes), 'key');
    assert.equal(formOf(key, ['other']), 'malformed');
    assert.equal(formOf(key, []), 'malformed');
  }
});

test('a thousand keys are unique', () => {
  assert.equal(new Set(Array.from({ length: 1_000 }, () => makeKey('krv').reveal())).size, 1_000);
});

test('a key with an altered character is malformed', () => {
  const key = makeKey('krv').reveal();
  for (let index = 0; index < key.length; index++) {
    for (const char of [...digits, '_', '-', ' ', 'é']) {
      const altered = key.slice(0, index) + char + key.slice(index + 1);
      if (altered !== key) assert.equal(formOf(altered, prefixes), 'malformed', altered);
    }
  }
});

test('a key that is shortened, extended or in another case is malformed', () => {
  const key = makeKey('krv').reveal();
  for (let length = 0; length < key.length; length++) {
    assert.equal(formOf(key.slice(0, length), prefixes), 'malformed');
    assert.equal(formOf(key.slice(key.length - length), prefixes), 'malformed');
  }
  for (const text of [
    `${key}0`,
    `0${key}`,
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    key.toUpperCase(),
    key + key,
    `${key},${key}`,
  ]) {
    assert.equal(formOf(text, prefixes), 'malformed', text);
  }
});

test('a text with the right checksum but not in base62 is malformed', { tags: ['asvs:11.4.1'] }, () => {
  for (const body of [
    '-'.repeat(43),
    'é'.repeat(43),
    `${'a'.repeat(42)} `,
    `${'a'.repeat(42)}_`,
    `${'a'.repeat(42)}\u0000`,
  ]) {
    assert.equal(formOf(checked(`krv_${body}`), prefixes), 'malformed', body);
  }
  assert.equal(formOf(checked(`krv_${'a'.repeat(43)}`), prefixes), 'key');
});

test('the checksum covers the prefix', () => {
  assert.equal(formOf(makeKey('krv').reveal().replace('krv_', 'acme_'), prefixes), 'malformed');
});

test('a text with the prefix of a refresh token or one-time code is of the wrong kind', () => {
  const refreshToken = new RefreshTokens(deriveKeys(Buffer.alloc(32, 7))).first().text.reveal();
  for (const text of [refreshToken, `${refreshToken}x`, 'krvr_', 'krvc_123456', checked(`krvr_${'a'.repeat(43)}`)]) {
    assert.equal(formOf(text, prefixes), 'wrong_kind', text);
  }
  for (const text of ['krvr', 'krvx_1', 'KRVR_1', '', '_', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(100_000)]) {
    assert.equal(formOf(text, prefixes), 'malformed', text.slice(0, 20));
  }
});

test('a text can be an imported key unless it has our formats, is a JWT or is too long', () => {
  const key = makeKey('krv').reveal();
  const foreign = [
    'sk_live_1234',
    'x',
    'krv_old',
    'acme-1',
    'krv',
    `${key}0`,
    key.slice(1),
    'é',
    'x'.repeat(limits.importedKeyCharsMax),
    `krvt_${'a'.repeat(48)}`,
  ];
  for (const text of foreign) assert.equal(mayBeImported(text, prefixes), true, text);
  const own = [
    key,
    `${key.slice(0, -1)}~`,
    `acme_${'a'.repeat(49)}`,
    'krvr_',
    'krvc_123456',
    `krvt_${'a'.repeat(49)}`,
    'eyJ',
    'eyJhbGciOiJub25lIn0.e30.',
    '',
  ];
  for (const text of [...own, 'x'.repeat(limits.importedKeyCharsMax + 1)])
    assert.equal(mayBeImported(text, prefixes), false, text);
});
