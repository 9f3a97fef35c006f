/** A sealed value opens only unchanged, in its row and with its key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Sealer } from '../seal.ts';

const sealer = new Sealer(Buffer.alloc(32, 7));
const plain = '{"kty":"EC","d":"secret é"}';

test('a sealed value opens to the original text and does not contain it', { tags: ['asvs:14.2.4'] }, () => {
  for (const text of ['', 'a', plain, 'x'.repeat(10_000)]) {
    const sealed = sealer.seal('row', text);
    assert.equal(sealer.open('row', sealed), text);
    assert.equal(sealer.open('row', Uint8Array.from(sealed)), text);
    assert.equal(sealed.length, 1 + 12 + Buffer.byteLength(text) + 16);
  }
  assert.ok(!sealer.seal('row', plain).includes('secret'));
});

test('sealing the same text twice uses two nonces', { tags: ['asvs:11.3.2'] }, () => {
  const nonces = new Set(
    Array.from({ length: 1_000 }, () => sealer.seal('row', plain).subarray(1, 13).toString('hex')),
  );
  assert.equal(nonces.size, 1_000);
});

test('a sealed value with one changed bit is rejected', { tags: ['asvs:11.3.1', 'asvs:11.3.2', 'asvs:11.3.3'] }, () => {
  const sealed = sealer.seal('row', plain);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Buffer.from(sealed);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => sealer.open('row', altered), `bit ${bit}`);
  }
});

test('a truncated or extended sealed value is rejected', { tags: ['asvs:11.3.3'] }, () => {
  const sealed = sealer.seal('row', plain);
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => sealer.open('row', sealed.subarray(0, length)), `${length} bytes`);
    assert.throws(() => sealer.open('row', sealed.subarray(sealed.length - length)), `the last ${length} bytes`);
  }
  assert.throws(() => sealer.open('row', Buffer.concat([sealed, Buffer.of(0)])));
});

test('a sealed value cannot be moved to another row', { tags: ['asvs:11.3.3'] }, () => {
  const sealed = sealer.seal('row', plain);
  for (const row of ['', 'Row', 'row ', 'row2', 'ro']) assert.throws(() => sealer.open(row, sealed), row);
});

test('a sealed value cannot be opened with another key', () => {
  const sealed = sealer.seal('row', plain);
  const almost = Buffer.alloc(32, 7);
  almost[31] = 6;
  for (const key of [almost, randomBytes(32), Buffer.alloc(32)])
    assert.throws(() => new Sealer(key).open('row', sealed));
});
