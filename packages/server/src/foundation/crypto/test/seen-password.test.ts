/** A sign-in replaces an imported hash with one of what the other system saw of the password, not of what was typed. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { hashSync } from '@node-rs/bcrypt';
import { KeyedHash } from '../keyed-hash.ts';
import { PasswordHasher } from '../password.ts';
import { phpass } from '../crypt-digests.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const pepper = new KeyedHash(randomBytes(32));
const hasher = new PasswordHasher(pepper, cheap);

const digits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** As phpass writes bytes. */
function cryptText(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(start, start + 3);
    const value = first + second * 0x1_00 + third * 0x1_00_00;
    const count = Math.ceil((Math.min(3, bytes.length - start) * 8) / 6);
    for (let digit = 0; digit < count; digit++) text += digits.charAt((value >> (6 * digit)) & 63);
  }
  return text;
}

const bcrypt = (password: string): string => hashSync(password, 4).replace('$2b$', '$2y$');
const phpassText = (mark: string, input: string): string =>
  `$${mark}$5saltsalt${cryptText(phpass('md5', Buffer.from(input), Buffer.from('saltsalt'), 128))}`;
const drupal = (input: string): string =>
  `$S$5saltsalt${cryptText(phpass('sha512', Buffer.from(input), Buffer.from('saltsalt'), 128)).slice(0, 43)}`;
const wordPress = (input: string): string =>
  `$wp${bcrypt(createHmac('sha384', 'wp-sha384').update(input).digest('base64'))}`;
const betterAuth = (input: string): string => {
  const salt = '00112233445566778899aabbccddeeff';
  return `${salt}:${scryptSync(input, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 }).toString('hex')}`;
};

interface Loss {
  readonly what: string;
  readonly hash: string;
  /** What the other system accepts. */
  readonly accepted: readonly string[];
  /** The first one differs least. */
  readonly rejected: readonly string[];
  readonly seen: string | undefined;
}

const x71 = 'x'.repeat(71);
const losses: readonly Loss[] = [
  {
    what: 'bcrypt ignores all after 72 bytes',
    hash: bcrypt(`${x71}xtail one`),
    accepted: [`${x71}xtail two`, `${x71}xtail one`, `${x71}x`],
    rejected: [x71, `${x71}y`, `${x71}ytail one`],
    seen: 'first72',
  },
  {
    what: 'bcrypt ignores all after 72 bytes, also a part of a character',
    hash: bcrypt(`${x71}ä`),
    accepted: [`${x71}ö`, `${x71}ä`],
    rejected: [`${x71}x`, x71],
    seen: 'first72',
  },
  {
    what: 'a typed password of 72 bytes can be the beginning of the owner’s',
    hash: bcrypt(`${x71}xtail one`),
    accepted: [`${x71}x`, `${x71}xtail one`],
    rejected: [`${x71}y`],
    seen: 'first72',
  },
  {
    what: 'bcrypt sees all of 71 bytes',
    hash: bcrypt(x71),
    accepted: [x71],
    rejected: [`${x71}x`, 'x'.repeat(70)],
    seen: undefined,
  },
  {
    what: 'better-auth compares compatibility forms',
    hash: betterAuth('file IX'),
    accepted: ['file IX', '\uFB01le \u2168', 'file \u2168'],
    rejected: ['file ix'],
    seen: 'nfkc',
  },
  {
    what: 'WordPress trims, and escapes quotes',
    hash: wordPress(String.raw`it\'s a \"wombat\"`),
    accepted: [`it's a "wombat" `, `it's a "wombat"`, `  it's a "wombat"\t`],
    rejected: [`it's a wombat`, `it's  a "wombat"`],
    seen: 'trim',
  },
  {
    what: 'WordPress before 6.8 trims, and escapes quotes',
    hash: phpassText('P', String.raw`it\'s a wombat`),
    accepted: [` it's a wombat`, `it's a wombat`],
    rejected: ['its a wombat'],
    seen: 'trim',
  },
  {
    what: 'other applications use phpass with the password as it is',
    hash: phpassText('P', `it's a wombat`),
    accepted: [`it's a wombat`],
    rejected: ['its a wombat'],
    seen: 'trim',
  },
  {
    what: 'phpBB trims, and escapes HTML',
    hash: phpassText('H', `a &lt;b&gt; &amp; &quot;c&quot; it's`),
    accepted: [`a <b> & "c" it's`, ` a <b> & "c" it's`],
    rejected: ['a b & c'],
    seen: 'trim',
  },
  {
    what: 'Drupal 7 trims',
    hash: drupal('wombat orbit'),
    accepted: ['wombat orbit ', 'wombat orbit'],
    rejected: ['wombat  orbit'],
    seen: 'trim',
  },
];

for (const { what, hash, accepted, rejected, seen } of losses) {
  test(`${what}: the first sign-in changes nothing about which passwords are right`, async () => {
    const imported = hasher.adopt(hash);
    const [first = ''] = accepted;
    const renewed = await hasher.renew(first.normalize('NFC'), imported, first);
    assert.match(renewed, seen === undefined ? /,keyid=cDE\$/ : new RegExp(`,keyid=cDE,seen=${seen}\\$`));
    assert.equal(hasher.isOutdated(renewed), false);
    // After a change of the parameters, the mark stays.
    const later = new PasswordHasher(pepper, { ...cheap, memoryKib: 128 });
    assert.equal(later.isOutdated(renewed), true);
    const again = await later.renew(first.normalize('NFC'), renewed, first);
    for (const stored of [imported, renewed, again]) {
      for (const typed of accepted)
        assert.equal(await hasher.verify(typed.normalize('NFC'), stored, typed), true, typed);
      for (const typed of rejected)
        assert.equal(await hasher.verify(typed.normalize('NFC'), stored, typed), false, typed);
    }
  });
}

test('a new password has no mark, and all of it counts', async () => {
  const stored = await hasher.hash(`${x71}xtail one`);
  assert.match(stored, /,keyid=cDE\$/);
  assert.equal(await hasher.verify(`${x71}xtail two`, stored), false);
});
