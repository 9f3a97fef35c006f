/** The formats of credentials, for secret scanners and configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  keyPattern,
  keyPrefixDefault,
  keyPrefixPattern,
  refreshTokenPrefix,
  reservedPrefixes,
} from '@keyreeve/contract';
import { makeKey } from '../../server/src/modules/api-keys/key-format.ts';
import { deriveKeys } from '../../server/src/foundation/crypto/master-key.ts';
import { RefreshTokens } from '../../server/src/modules/tokens/refresh-token.ts';

const prefixes = [keyPrefixDefault, 'acme_live'];
const scanner = new RegExp(keyPattern(prefixes), 'g');

test('the pattern for secret scanners finds real keys in any text', () => {
  for (let round = 0; round < 200; round++) {
    for (const prefix of prefixes) {
      const key = makeKey(prefix).reveal();
      assert.deepEqual(`KEY="${key}", and so on`.match(scanner), [key]);
    }
  }
});

test('the pattern does not match other credentials', () => {
  const refreshToken = new RefreshTokens(deriveKeys(Buffer.alloc(32, 7))).first().text.reveal();
  for (const text of [refreshToken, 'krv_', 'krv_short', `other_${'a'.repeat(49)}`, `krv-${'a'.repeat(49)}`]) {
    assert.equal(text.match(scanner), null, text);
  }
});

test('a key prefix is lower case, short, and not one of the reserved prefixes', { tags: ['asvs:1.2.9'] }, () => {
  for (const prefix of ['krv', 'ab', 'acme', 'acme_live', 'a1', `a${'b'.repeat(20)}`])
    assert.match(prefix, keyPrefixPattern);
  for (const prefix of ['', 'a', 'Acme', '1a', '_a', 'a-b', 'a b', 'é1', `a${'b'.repeat(21)}`, 'acme\n']) {
    assert.doesNotMatch(prefix, keyPrefixPattern);
  }
  assert.deepEqual(reservedPrefixes, ['krvr', 'krvc', 'krvt', 'krvs', 'krvd', 'krvp', 'krvq']);
  assert.ok(reservedPrefixes.includes(refreshTokenPrefix));
  assert.ok(!reservedPrefixes.includes(keyPrefixDefault));
});
