/** The format of refresh tokens: each proves its session and generation, and has one successor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { checksum, fromBase62, toBase62 } from '../../../foundation/crypto/secret.ts';
import { RefreshTokens, type RefreshToken } from '../refresh-token.ts';

const tokens = new RefreshTokens(deriveKeys(Buffer.alloc(32, 7)));
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const shown = ({ text, sessionId, generation, hash }: RefreshToken) => ({
  text: text.reveal(),
  sessionId,
  generation,
  hash: hash.toString('hex'),
});

/** A copy of the token with a changed body and the right checksum. */
function forge(text: string, change: (body: Buffer) => void): string {
  const body = fromBase62(text.slice('krvr_'.length, -6), 68);
  assert.ok(body);
  change(body);
  const unchecked = `krvr_${toBase62(body, 92)}`;
  return unchecked + checksum(unchecked);
}

test('parsing a token returns the values that it was created from', () => {
  for (let round = 0; round < 50; round++) {
    const made = tokens.first();
    assert.match(made.text.reveal(), /^krvr_[0-9A-Za-z]{98}$/);
    assert.match(made.sessionId, /^ses_[0-9A-Za-z]{22}$/);
    assert.equal(made.generation, 1);
    const parsed = tokens.parse(made.text.reveal());
    assert.ok(parsed);
    assert.deepEqual(shown(parsed), shown(made));
  }
});

test('session ids and tokens are unique', { tags: ['asvs:7.2.2', 'asvs:7.2.3', 'asvs:7.2.4'] }, () => {
  const made = Array.from({ length: 1_000 }, () => tokens.first());
  assert.equal(new Set(made.map(({ sessionId }) => sessionId)).size, 1_000);
  assert.equal(new Set(made.map(({ text }) => text.reveal())).size, 1_000);
});

test('a token has exactly one successor, also after it was parsed', () => {
  const first = tokens.first();
  let token = first;
  const texts = new Set([token.text.reveal()]);
  for (let generation = 2; generation <= 50; generation++) {
    const parsed = tokens.parse(token.text.reveal());
    assert.ok(parsed);
    const successor = tokens.successor(parsed);
    assert.deepEqual(shown(successor), shown(tokens.successor(token)));
    assert.equal(successor.sessionId, first.sessionId);
    assert.equal(successor.generation, generation);
    assert.deepEqual(shown(tokens.parse(successor.text.reveal()) ?? first), shown(successor));
    texts.add(successor.text.reveal());
    token = successor;
  }
  assert.equal(texts.size, 50);
});

test('a token with an altered character is rejected', () => {
  const text = tokens.first().text.reveal();
  for (let index = 0; index < text.length; index++) {
    for (const step of [1, 7, 36]) {
      const char = digits.charAt((digits.indexOf(text.charAt(index)) + step) % 62);
      const altered = text.slice(0, index) + char + text.slice(index + 1);
      if (altered !== text) assert.equal(tokens.parse(altered), undefined, `character ${index}`);
    }
  }
});

test('a token with an altered bit and the right checksum is rejected', () => {
  const text = tokens.first().text.reveal();
  assert.ok(tokens.parse(forge(text, () => undefined)), 'without a change the copy is the token itself');
  for (let bit = 0; bit < 68 * 8; bit++) {
    const forged = forge(text, (body) => (body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7))));
    assert.equal(tokens.parse(forged), undefined, `bit ${bit}`);
  }
});

test('a token with another generation of its session is rejected', () => {
  const text = tokens.successor(tokens.successor(tokens.first())).text.reveal();
  for (const generation of [0, 1, 2, 4, 2 ** 32 - 1]) {
    assert.equal(
      tokens.parse(forge(text, (body) => body.writeUInt32BE(generation, 16))),
      undefined,
      String(generation),
    );
  }
});

test('a token of another installation is rejected', () => {
  const other = new RefreshTokens(deriveKeys(Buffer.alloc(32, 8)));
  assert.equal(tokens.parse(other.first().text.reveal()), undefined);
});

test('only the exact form of a token is accepted', () => {
  const text = tokens.first().text.reveal();
  const wrong = [
    '',
    'krvr_',
    text.slice(0, -1),
    `${text}0`,
    ` ${text}`,
    `${text}\n`,
    text.toUpperCase(),
    text.replace('krvr_', 'krv_'),
    text.replace('krvr_', 'krvc_'),
    text.replace('krvr_', 'krvr-'),
    `krvr_${'z'.repeat(98)}`,
    `krvr_${'é'.repeat(98)}`,
    'x'.repeat(100_000),
  ];
  for (const candidate of wrong) assert.equal(tokens.parse(candidate), undefined, candidate.slice(0, 20));
});
