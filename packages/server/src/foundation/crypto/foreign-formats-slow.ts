/**
 * Formats of the deliberately slow algorithms: Argon2, bcrypt, scrypt and PBKDF2, as PHC strings, modular crypt formats, and
 * those of common frameworks.
 */
import { base64, cryptBytes, cryptNumber, hex, readList } from './foreign-encodings.ts';
import { bcryptAs, pbkdf2, scrypt, type ForeignFormat } from './foreign-format.ts';
import { ForeignHashError, type ForeignScheme } from './foreign-hash.ts';

/** A larger number is not a logarithm of N: N would be beyond every bound. */
const scryptLogMax = 63;

export const slowFormats: readonly ForeignFormat[] = [
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
    read: bcryptAs('bcrypt'),
  },
  {
    // PHC, for example of passlib. Ory Kratos writes N instead of its logarithm.
    pattern: /^\$scrypt\$([a-z]+=\d+(?:,[a-z]+=\d+)*)\$([A-Za-z0-9+/.]+={0,2})\$([A-Za-z0-9+/.]+={0,2})$/,
    read: ([list = '', salt = '', digest = '']) => {
      const { ln = 0, r = 0, p = 0 } = readList(list, ['ln', 'r', 'p']);
      const n = ln > scryptLogMax ? ln : 2 ** ln;
      return scrypt([n, r, p], base64(salt), base64(digest));
    },
  },
  {
    // Modular crypt format: N, r and p in crypt's digits, then the salt as text.
    pattern: /^\$7\$([./0-9A-Za-z])([./0-9A-Za-z]{5})([./0-9A-Za-z]{5})([./0-9A-Za-z]*)\$([./0-9A-Za-z]{43})$/,
    read: ([log = '', r = '', p = '', salt = '', digest = '']) =>
      scrypt([2 ** cryptNumber(log), cryptNumber(r), cryptNumber(p)], Buffer.from(salt), cryptBytes(digest)),
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
    read: ([n, salt = '', r, p, digest = '']) =>
      scrypt([Number(n), Number(r), Number(p)], Buffer.from(salt), base64(digest)),
  },
  {
    // Werkzeug (Flask).
    pattern: /^scrypt:(\d{1,8}):(\d{1,4}):(\d{1,4})\$([^$]+)\$((?:[0-9a-f]{2})+)$/,
    read: ([n, r, p, salt = '', digest = '']) =>
      scrypt([Number(n), Number(r), Number(p)], Buffer.from(salt), Buffer.from(digest, 'hex')),
  },
  {
    // passlib's modular crypt format.
    pattern: /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(\d{1,9})\$([A-Za-z0-9+/.]+)\$([A-Za-z0-9+/.]+)$/,
    read: ([name = 'sha1', rounds, salt = '', digest = '']) => pbkdf2(name, rounds, base64(salt), base64(digest)),
  },
  {
    // PHC. Discourse writes the salt as text, and the digest in hexadecimal: it then has two digits for each stated byte.
    pattern: /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$([a-z]+=\d+(?:,[a-z]+=\d+)*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/,
    read: ([name = 'sha1', list = '', salt = '', digest = '']) => {
      const { i = 0, l } = readList(list, ['i'], ['l']);
      if (l !== undefined && digest.length === 2 * l && /^[0-9a-f]+$/.test(digest))
        return pbkdf2(name, i, Buffer.from(salt), hex(digest));
      const bytes = base64(digest);
      if (l !== undefined && l !== bytes.length)
        throw new ForeignHashError('its digest does not have the stated length');
      return pbkdf2(name, i, base64(salt), bytes);
    },
  },
  {
    // Django.
    pattern: /^pbkdf2_(sha1|sha256|sha512)\$(\d{1,9})\$([^$]+)\$([A-Za-z0-9+/]+={0,2})$/,
    read: ([name = '', rounds, salt = '', digest = '']) => pbkdf2(name, rounds, Buffer.from(salt), base64(digest)),
  },
  {
    // Werkzeug (Flask).
    pattern: /^pbkdf2:(sha1|sha256|sha512):(\d{1,9})\$([^$]+)\$((?:[0-9a-f]{2})+)$/,
    read: ([name = '', rounds, salt = '', digest = '']) =>
      pbkdf2(name, rounds, Buffer.from(salt), Buffer.from(digest, 'hex')),
  },
];
