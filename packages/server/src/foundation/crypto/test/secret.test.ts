/** Random text, checksums, base62 and secrets that are never printed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { crc32 } from 'node:zlib';
import { checksum, fromBase62, randomBase62, randomId, Secret, toBase62 } from '../secret.ts';
import { createLog, logLevels } from '../../log.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The value of base62 text, digit by digit. */
const valueOf = (text: string): number => [...text].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0);

test('base62 decodes to the encoded bytes, including leading zeros', () => {
  for (const length of [1, 16, 32, 68]) {
    const chars = Math.ceil((length * 8) / Math.log2(62));
    const samples = [
      Buffer.alloc(length),
      Buffer.alloc(length, 0xff),
      ...Array.from({ length: 50 }, () => randomBytes(length)),
    ];
    for (const bytes of samples) {
      const text = toBase62(bytes, chars);
      assert.equal(text.length, chars);
      assert.match(text, /^[0-9A-Za-z]+$/);
      assert.deepEqual(fromBase62(text, length), bytes);
    }
  }
});

test('text that is not the base62 of the expected number of bytes is rejected', () => {
  assert.equal(fromBase62('48', 1), undefined, '256 needs two bytes');
  assert.deepEqual(fromBase62('47', 1), Buffer.of(255));
  for (const text of ['-0', '0_', 'é', '0 ', '\u0000', '٣']) assert.equal(fromBase62(text, 4), undefined, text);
  assert.equal(fromBase62('z'.repeat(92), 68), undefined);
});

test(
  'random text has the requested length and uses each digit about equally often',
  { tags: ['asvs:7.2.3', 'asvs:11.5.1'] },
  () => {
    for (const chars of [1, 22, 43, 100]) assert.match(randomBase62(chars), new RegExp(`^[0-9A-Za-z]{${chars}}$`));
    const counts = new Map<string, number>();
    const drawn = 62_000;
    for (const digit of randomBase62(drawn)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    assert.equal(counts.size, 62);
    // Chi-squared over 61 degrees of freedom: 150 is exceeded once in 10^9 runs. `byte % 62` without rejection gives about 2,000.
    const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - drawn / 62) ** 2 / (drawn / 62), 0);
    assert.ok(chiSquared < 150, `chi-squared is ${chiSquared}`);
  },
);

test('ten thousand ids are all different', { tags: ['asvs:10.3.3'] }, () => {
  const ids = new Set(Array.from({ length: 10_000 }, () => randomId('acc')));
  assert.equal(ids.size, 10_000);
  for (const id of ids) assert.match(id, /^acc_[0-9A-Za-z]{22}$/);
});

test('a checksum is the CRC-32 of the text in six base62 digits', () => {
  // The check value of CRC-32: https://reveng.sourceforge.io/crc-catalogue/17plus.htm#crc.cat.crc-32-iso-hdlc
  assert.equal(crc32('123456789'), 0xcbf43926);
  assert.equal(valueOf(checksum('123456789')), 0xcbf43926);
  for (let round = 0; round < 500; round++) {
    const text = randomBytes(round % 60).toString('base64url');
    assert.match(checksum(text), /^[0-9A-Za-z]{6}$/);
    assert.equal(valueOf(checksum(text)), crc32(text));
  }
  assert.equal(checksum(''), '000000');
});

test('only reveal() returns a secret, and printing it yields [redacted]', () => {
  const canary = 'canary-7f3a';
  const secret = new Secret(canary);
  assert.equal(secret.reveal(), canary);
  const printed: Record<string, string> = {
    String: String(secret),
    template: `a ${secret as unknown as string} b`,
    concatenation: '' + secret,
    JSON: JSON.stringify({ secret, list: [secret] }),
    inspect: inspect({ deep: { secret } }, { depth: 9, showHidden: true }),
    'inspect with getters': inspect(secret, { showHidden: true, getters: true }),
    'format %s': format('%s', secret),
    'format %o': format('%o', secret),
    'format %j': format('%j', secret),
    entries: JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret), { ...secret }]),
    error: inspect(new Error('failed', { cause: secret })),
    clone: inspect(structuredClone({ ...secret })),
  };
  for (const [way, text] of Object.entries(printed)) assert.ok(!text.includes(canary), way);
  for (const way of ['String', 'template', 'JSON', 'inspect', 'format %s']) {
    assert.ok(printed[way]?.includes('[redacted]'), way);
  }
});

test('a secret does not reach a log line, at any level or nesting', { tags: ['asvs:16.2.5'] }, () => {
  const canary = 'canary-7f3a';
  const lines: string[] = [];
  const log = createLog('trace', { write: (line: string) => void lines.push(line) });
  const secret = new Secret(canary);
  const levels = logLevels.filter((level) => level !== 'silent');
  for (const level of levels) {
    log[level]({ event: 'test', secret, deep: { list: [secret] }, err: new Error('failed', { cause: secret }) });
    log[level]('%s %j %o', secret, secret, secret);
    log.child({ secret })[level]('child');
  }
  assert.equal(lines.length, levels.length * 3);
  for (const line of lines) {
    assert.ok(!line.includes(canary), line);
    assert.ok(line.includes('[redacted]'), line);
  }
});
