/** API keys as text: what is one is known from the form alone, before anything is read. */
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

test('a key of each accepted prefix is one; keys of others are not', () => {
  for (const prefix of prefixes) {
    const key = makeKey(prefix).reveal();
    assert.match(key, new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
    assert.match(key, new RegExp(`^${keyPattern(prefixes)}$`));
    assert.equal(formOf(key, prefixes), 'key');
    assert.equal(formOf(key, ['other']), 'malformed');
    assert.equal(formOf(key, []), 'malformed');
  }
});

test('a thousand keys are all different', () => {
  assert.equal(new Set(Array.from({ length: 1_000 }, () => makeKey('krv').reveal())).size, 1_000);
});

test('whichever character is altered, it isn’t a key', () => {
  const key = makeKey('krv').reveal();
  for (let place = 0; place < key.length; place++) {
    for (const char of [...digits, '_', '-', ' ', 'é']) {
      const altered = key.slice(0, place) + char + key.slice(place + 1);
      if (altered !== key) assert.equal(formOf(altered, prefixes), 'malformed', altered);
    }
  }
});

test('whatever is cut off, added or exchanged, it isn’t a key', () => {
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

test('a right checksum over anything but base62 isn’t enough', { tags: ['asvs:11.4.1'] }, () => {
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

test('the checksum covers the prefix: a key isn’t one of another brand', () => {
  assert.equal(formOf(makeKey('krv').reveal().replace('krv_', 'acme_'), prefixes), 'malformed');
});

test('our other credentials are told by their kind, well-formed or not', () => {
  const refreshToken = new RefreshTokens(deriveKeys(Buffer.alloc(32, 7))).first().text.reveal();
  for (const text of [refreshToken, `${refreshToken}x`, 'krvr_', 'krvc_123456', checked(`krvr_${'a'.repeat(43)}`)]) {
    assert.equal(formOf(text, prefixes), 'wrong_kind', text);
  }
  for (const text of ['krvr', 'krvx_1', 'KRVR_1', '', '_', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(100_000)]) {
    assert.equal(formOf(text, prefixes), 'malformed', text.slice(0, 20));
  }
});

test('another system’s key is what is neither ours, whole or mistyped, nor a JWT, nor too long', () => {
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
  ];
  for (const text of foreign) assert.equal(mayBeImported(text, prefixes), true, text);
  const own = [
    key,
    `${key.slice(0, -1)}~`,
    `acme_${'a'.repeat(49)}`,
    'krvr_',
    'krvc_123456',
    'eyJ',
    'eyJhbGciOiJub25lIn0.e30.',
    '',
  ];
  for (const text of [...own, 'x'.repeat(limits.importedKeyCharsMax + 1)])
    assert.equal(mayBeImported(text, prefixes), false, text);
});
