/**
 * Parses password hashes of other systems: PHC strings, modular crypt formats, and those of common frameworks. Each becomes
 * a recipe and a digest. docs/import.md lists the formats.
 */
import { assertBounds, ForeignHashError, type ForeignRecipe, type ForeignScheme } from './foreign-hash.ts';

export interface ForeignHash {
  readonly recipe: ForeignRecipe;
  readonly digest: Buffer;
}

const textCharsMax = 1_024;

interface Format {
  readonly pattern: RegExp;
  readonly read: (parts: readonly string[]) => ParsedHash;
}

interface ParsedHash {
  readonly scheme: ForeignScheme;
  readonly parameters: Readonly<Record<string, number>>;
  readonly salt: Buffer;
  readonly digest: Buffer;
}

const formats: readonly Format[] = [
  {
    // PHC. Django writes `argon2` before it.
    pattern:
      /^(?:argon2)?\$(argon2(?:id|i|d))(?:\$v=(\d{1,3}))?\$([a-z]+=[^,$]+(?:,[a-z]+=[^,$]+)*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/,
    // Without a version it is version 1.0, which is number 16.
    read: ([scheme = '', version = '16', list = '', salt = '', digest = '']) => ({
      scheme: scheme as ForeignScheme,
      parameters: { v: Number(version), ...readList(list, ['m', 't', 'p']) },
      salt: base64(salt),
      digest: base64(digest),
    }),
  },
  {
    // Modular crypt format with any of the three names. Django writes `bcrypt$` before it.
    pattern: /^(?:bcrypt\$)?\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
    read: ([cost, salt = '', digest = '']) => ({
      scheme: 'bcrypt',
      parameters: { c: Number(cost) },
      salt: base64(translate(salt, bcryptDigits, base64Digits)),
      digest: Buffer.from(digest),
    }),
  },
  {
    // PHC, for example of passlib.
    pattern: /^\$scrypt\$([a-z]+=\d+(?:,[a-z]+=\d+)*)\$([A-Za-z0-9+/.]+)\$([A-Za-z0-9+/.]+)$/,
    read: ([list = '', salt = '', digest = '']) => {
      const { ln = 0, r = 0, p = 0 } = readList(list, ['ln', 'r', 'p']);
      return { scheme: 'scrypt', parameters: { n: 2 ** ln, r, p }, salt: base64(salt), digest: base64(digest) };
    },
  },
  {
    // Modular crypt format: N, r and p in crypt's digits, then the salt as text.
    pattern: /^\$7\$([./0-9A-Za-z])([./0-9A-Za-z]{5})([./0-9A-Za-z]{5})([./0-9A-Za-z]*)\$([./0-9A-Za-z]{43})$/,
    read: ([log = '', r = '', p = '', salt = '', digest = '']) => ({
      scheme: 'scrypt',
      parameters: { n: 2 ** cryptNumber(log), r: cryptNumber(r), p: cryptNumber(p) },
      salt: Buffer.from(salt),
      digest: cryptBytes(digest),
    }),
  },
  {
    // better-auth: the salt is the hexadecimal text, not the bytes that it encodes.
    pattern: /^([0-9a-f]{32}):([0-9a-f]{128})$/,
    read: ([salt = '', digest = '']) => ({
      scheme: 'scrypt-nfkc',
      parameters: { n: 16_384, r: 16, p: 1 },
      salt: Buffer.from(salt),
      digest: Buffer.from(digest, 'hex'),
    }),
  },
  {
    // Django.
    pattern: /^scrypt\$(\d{1,8})\$([^$]+)\$(\d{1,4})\$(\d{1,4})\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([n, salt = '', r, p, digest = '']) => ({
      scheme: 'scrypt',
      parameters: { n: Number(n), r: Number(r), p: Number(p) },
      salt: Buffer.from(salt),
      digest: base64(digest),
    }),
  },
  {
    // Werkzeug (Flask).
    pattern: /^scrypt:(\d{1,8}):(\d{1,4}):(\d{1,4})\$([^$]+)\$((?:[0-9a-f]{2})+)$/,
    read: ([n, r, p, salt = '', digest = '']) => ({
      scheme: 'scrypt',
      parameters: { n: Number(n), r: Number(r), p: Number(p) },
      salt: Buffer.from(salt),
      digest: Buffer.from(digest, 'hex'),
    }),
  },
  {
    // passlib's modular crypt format.
    pattern: /^\$pbkdf2(-sha1|-sha256|-sha512)?\$(\d{1,9})\$([A-Za-z0-9+/.]+)\$([A-Za-z0-9+/.]+)$/,
    read: ([variant = '-sha1', rounds, salt = '', digest = '']) => ({
      scheme: `pbkdf2${variant}` as ForeignScheme,
      parameters: { i: Number(rounds) },
      salt: base64(salt),
      digest: base64(digest),
    }),
  },
  {
    // PHC.
    pattern: /^\$pbkdf2(-sha1|-sha256|-sha512)?\$([a-z]+=\d+(?:,[a-z]+=\d+)*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/,
    read: ([variant = '-sha1', list = '', salt = '', digest = '']) => {
      const { i = 0, l } = readList(list, ['i'], ['l']);
      const bytes = base64(digest);
      if (l !== undefined && l !== bytes.length)
        throw new ForeignHashError('its digest does not have the stated length');
      return { scheme: `pbkdf2${variant}` as ForeignScheme, parameters: { i }, salt: base64(salt), digest: bytes };
    },
  },
  {
    // Django.
    pattern: /^pbkdf2_(sha1|sha256|sha512)\$(\d{1,9})\$([^$]+)\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([variant = '', rounds, salt = '', digest = '']) => ({
      scheme: `pbkdf2-${variant}` as ForeignScheme,
      parameters: { i: Number(rounds) },
      salt: Buffer.from(salt),
      digest: base64(digest),
    }),
  },
  {
    // Werkzeug (Flask).
    pattern: /^pbkdf2:(sha1|sha256|sha512):(\d{1,9})\$([^$]+)\$((?:[0-9a-f]{2})+)$/,
    read: ([variant = '', rounds, salt = '', digest = '']) => ({
      scheme: `pbkdf2-${variant}` as ForeignScheme,
      parameters: { i: Number(rounds) },
      salt: Buffer.from(salt),
      digest: Buffer.from(digest, 'hex'),
    }),
  },
];

/** @throws ForeignHashError if the format is unknown, or a sign-in with the hash would cost too much */
export function parseForeignHash(text: string): ForeignHash {
  if (text.length <= textCharsMax) {
    for (const { pattern, read } of formats) {
      const [whole, ...parts] = pattern.exec(text) ?? [];
      if (whole === undefined) continue;
      const { digest, ...rest } = read(parts);
      const recipe = { ...rest, digestBytes: digest.length };
      assertBounds(recipe);
      return { recipe, digest };
    }
  }
  throw new ForeignHashError('its format is not a known one of Argon2, bcrypt, scrypt or PBKDF2');
}

/** Parses `m=65536,t=3,p=4`, in any order. @throws ForeignHashError for other parameters: they would change the result */
function readList(
  list: string,
  names: readonly string[],
  optional: readonly string[] = [],
): Readonly<Record<string, number>> {
  const pairs = list.split(',').map((part): [string, number] => {
    const [name = '', value = ''] = part.split('=');
    if (![...names, ...optional].includes(name))
      throw new ForeignHashError(`its parameter ${name.slice(0, 16)} is not supported`);
    if (!/^\d{1,10}$/.test(value)) throw new ForeignHashError(`its parameter ${name} is not a number`);
    return [name, Number(value)];
  });
  const values = Object.fromEntries(pairs);
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length || !names.every((name) => name in values))
    throw new ForeignHashError(`its parameters are not ${names.join(', ')}, once each`);
  return values;
}

/** With or without padding. passlib writes `.` for `+`. */
function base64(text: string): Buffer {
  const bare = text.replace(/(?<!=)=+$/, '').replaceAll('.', '+');
  if (bare.length % 4 === 1) throw new ForeignHashError('its salt or digest is truncated');
  return Buffer.from(bare, 'base64');
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const bcryptDigits = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const cryptDigits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const translate = (text: string, from: string, to: string): string =>
  [...text].map((digit) => to.charAt(from.indexOf(digit))).join('');

/** The least significant digit first. */
const cryptNumber = (text: string): number =>
  [...text].reduceRight((sum, digit) => sum * 64 + cryptDigits.indexOf(digit), 0);

/** Four digits encode three bytes. The least significant digit and byte come first. */
function cryptBytes(text: string): Buffer {
  const bytes: number[] = [];
  for (let start = 0; start < text.length; start += 4) {
    const group = text.slice(start, start + 4);
    const number = cryptNumber(group);
    for (let byte = 0; byte < Math.floor((group.length * 6) / 8); byte++) bytes.push((number >> (8 * byte)) & 0xff);
  }
  return Buffer.from(bytes);
}
