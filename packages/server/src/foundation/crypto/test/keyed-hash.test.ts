/** Keyed hashes equal HMAC (RFC 2104). The lookup of a stored hash is its first 53 bits. */
import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { ApiKeyHash } from '../api-key-hash.ts';
import { KeyedHash, lookupOf } from '../keyed-hash.ts';

/** HMAC-SHA-256(key, SHA-256(text)). */
const reference = (key: Uint8Array, text: string | Uint8Array): Buffer =>
  createHmac('sha256', key).update(createHash('sha256').update(text).digest()).digest();

test(
  'a MAC equals HMAC-SHA-256 over the SHA-256 of the text, for any key and any text',
  { tags: ['asvs:11.2.1', 'asvs:11.4.1', 'asvs:11.4.3'] },
  () => {
    for (let round = 0; round < 500; round++) {
      const key = randomBytes(32);
      const bytes = randomBytes(randomInt(300));
      const text = `${bytes.toString('utf16le').toWellFormed()}é👩‍🚀`;
      const stored = Buffer.concat([Buffer.of(1), reference(key, text)]);
      for (const keyed of [new KeyedHash(key), new ApiKeyHash(key)]) {
        assert.deepEqual([keyed.mac(bytes), keyed.mac(text)], [reference(key, bytes), reference(key, text)]);
        assert.deepEqual(keyed.storedOfDigest(createHash('sha256').update(text).digest()), stored);
        assert.deepEqual(keyed.stored(text), stored);
      }
    }
  },
);

test('the reused buffers carry nothing from one call or one key into the next', () => {
  const [one, two] = [new ApiKeyHash(Buffer.alloc(32, 1)), new ApiKeyHash(Buffer.alloc(32, 2))];
  const texts = ['a', 'b'.repeat(1_000), ''];
  const expected = texts.map((text) => [one.stored(text), two.stored(text)]);
  for (const [index, text] of texts.entries()) {
    assert.deepEqual([one.stored(text), two.stored(text)], expected[index]);
    assert.notDeepEqual(one.stored(text), two.stored(text));
  }
});

test('a key and the digest of a credential each have exactly 32 bytes', { tags: ['asvs:11.2.3'] }, () => {
  for (const length of [0, 31, 33])
    assert.throws(() => new KeyedHash(Buffer.alloc(32)).storedOfDigest(Buffer.alloc(length)), RangeError);
  for (const length of [0, 16, 31, 33, 64]) {
    assert.throws(() => new KeyedHash(Buffer.alloc(length)), RangeError);
    assert.throws(() => new ApiKeyHash(Buffer.alloc(length)), RangeError);
  }
});

test('a lookup is the first 53 bits after the version byte, as a safe integer', { tags: ['asvs:1.4.2'] }, () => {
  const check = (stored: Buffer): void => {
    const lookup = lookupOf(stored);
    assert.equal(BigInt(lookup), BigInt(`0x${stored.subarray(1, 8).toString('hex')}`) >> 3n);
    assert.ok(Number.isSafeInteger(lookup) && lookup >= 0 && lookup <= 2 ** 53 - 1);
  };
  for (let round = 0; round < 2_000; round++) check(Buffer.concat([Buffer.of(1), randomBytes(32)]));
  check(Buffer.concat([Buffer.of(1), Buffer.alloc(32, 0x00)]));
  check(Buffer.concat([Buffer.of(1), Buffer.alloc(32, 0xff)]));
  assert.equal(lookupOf(Buffer.concat([Buffer.of(1), Buffer.alloc(32, 0xff)])), 2 ** 53 - 1);
});
