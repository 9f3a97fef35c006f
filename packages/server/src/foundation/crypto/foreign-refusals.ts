/** Hashes that are never imported, by name: an operator learns why, and what to do instead. */

const md5 = 'it is MD5 without rounds, which is not imported; the owner can reset the password';
const plain = 'it is a plain password, which is not imported; hash it with Argon2id or bcrypt first';

const refusals: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^[0-9a-f]{32}(?::(?![0-9a-f]{128}$).*)?$/i, md5],
  [/^(?:md5\$|unsalted_md5\$|\$md5\$|\{S?MD5\})/i, md5],
  [/^U\$[SPH]\$/, 'it is a hash of MD5, made by an upgrade from Drupal 6, which is not imported'],
  [/^\{(?:noop|plain|plaintext|clear|cleartext)\}|^\$plaintext\$/i, plain],
  [/^\$y\$|^\$gy\$/, 'it is yescrypt, which is not supported'],
  [/^\$2x\$/, 'it is bcrypt of the faulty implementation “2x”, which is not supported'],
  [/^\$(?:3|NT)\$|^\{(?:NTLM|MD4|LANMAN)\}/i, 'it is MD4, which is not imported'],
  [/^\$md5[,$]/, 'it is the MD5 of Sun, which is not supported'],
  [/^\$hmac-/, 'it is HMAC with a key of the other system, which is not supported'],
  [/^_[./0-9A-Za-z]{19}$|^[./0-9A-Za-z]{13}$/, 'it is DES, or a plain password, which are not imported'],
  [/^[0-9a-f]{64,}:[^:]*:[23]/, 'it is of Magento 2, version 2 or later, which is not supported'],
  // Hashes have a mark at the beginning, or are long texts without spaces.
  [/^(?![$:{]).*[^!-~]|^(?![$:{])[^$:]{0,39}$/s, plain],
];

/** @returns the reason, as part of the sentence “passwordHash can’t be used: …”; undefined for an unknown format */
export const refusalOf = (text: string): string | undefined => refusals.find(([pattern]) => pattern.test(text))?.[1];
