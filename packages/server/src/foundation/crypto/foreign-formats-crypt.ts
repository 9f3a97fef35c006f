/** Formats of crypt(3), of applications in PHP, and of libraries that hash a password before bcrypt. */
import { fromCryptOrder } from './crypt-digests.ts';
import { bcryptSalt, bcryptSaltText, cryptBytes } from './foreign-encodings.ts';
import { bcryptAs, repeatedAs, type ForeignFormat } from './foreign-format.ts';
import { ForeignHashError } from './foreign-hash.ts';

const shaCryptRoundsDefault = 5_000;
const md5CryptRounds = 1_000;

export const cryptFormats: readonly ForeignFormat[] = [
  {
    // WordPress before 6.8 and other applications in PHP ($P$), phpBB 3.0 ($H$).
    pattern: /^\$([PH])\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})$/,
    read: ([kind, log = '', salt = '', digest = '']) =>
      repeatedAs(kind === 'P' ? 'phpass' : 'phpass-phpbb', log, salt, digest),
  },
  {
    // WordPress from 6.8 on.
    pattern: /^\$wp\$2y\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
    read: bcryptAs('bcrypt-wordpress'),
  },
  {
    // Drupal 7 keeps 55 characters of the text, which is 32 bytes and 2 bits of the SHA-512.
    pattern: /^\$S\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{43})$/,
    read: ([log = '', salt = '', digest = '']) => repeatedAs('drupal7', log, salt, digest),
  },
  {
    // Django.
    pattern: /^bcrypt_sha256\$\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/,
    read: bcryptAs('bcrypt-sha256-hex'),
  },
  {
    // passlib: versions 2 and 1.
    pattern: /^\$bcrypt-sha256\$(v=2,t=2[aby],r=|2[aby],)(\d{1,2})\$([./A-Za-z0-9]{22})\$([./A-Za-z0-9]{31})$/,
    read: ([version = '', cost = '', salt = '', digest = '']) => {
      // The text of the salt is a key in version 2, and only its canonical form is stored.
      if (bcryptSaltText(bcryptSalt(salt)) !== salt)
        throw new ForeignHashError('its salt is not in the canonical form');
      const scheme = version.startsWith('v=2') ? 'bcrypt-hmac-sha256' : 'bcrypt-sha256-base64';
      return bcryptAs(scheme)([cost, salt, digest]);
    },
  },
  {
    // crypt(3), with the SHA-2 of Drepper's specification.
    pattern: /^\$([56])\$(?:rounds=(\d{1,9})\$)?([^$:\n]{0,16})\$([./0-9A-Za-z]{43}|[./0-9A-Za-z]{86})$/,
    read: ([kind, rounds = String(shaCryptRoundsDefault), salt = '', digest = '']) => {
      const algorithm = kind === '5' ? 'sha256' : 'sha512';
      const bytes = cryptBytes(digest);
      if (bytes.length !== (kind === '5' ? 32 : 64)) throw new ForeignHashError('its digest has a wrong length');
      return {
        scheme: `${algorithm}-crypt`,
        parameters: { i: Number(rounds) },
        salt: Buffer.from(salt),
        digest: fromCryptOrder(algorithm, bytes),
      };
    },
  },
  {
    // crypt(3) and Apache.
    pattern: /^\$(1|apr1)\$([^$:\n]{0,8})\$([./0-9A-Za-z]{22})$/,
    read: ([kind, salt = '', digest = '']) => ({
      scheme: kind === '1' ? 'md5-crypt' : 'apr1',
      parameters: { i: md5CryptRounds },
      salt: Buffer.from(salt),
      digest: fromCryptOrder('md5', cryptBytes(digest)),
    }),
  },
];
