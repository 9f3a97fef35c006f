/**
 * The formats of credentials as text. The kind of a credential is known from its prefix alone, and each kind
 * is accepted in its own place only.
 *
 * API key:       `<prefix>_` + 43 base62 characters (256 random bits) + 6 of CRC-32 over all before them
 * refresh token: `krvr_`     + 92 base62 characters (544 bits)        + 6 of CRC-32 over all before them
 */

/** The prefix of API keys unless the operator sets a brand of its own. */
export const keyPrefixDefault = 'krv';

/** Prefixes that no brand may take: refresh tokens and one-time codes. */
export const refreshTokenPrefix = 'krvr';
export const oneTimeCodePrefix = 'krvc';
export const reservedPrefixes: readonly string[] = [refreshTokenPrefix, oneTimeCodePrefix];

/** What an operator may choose as the prefix of keys. */
export const keyPrefixPattern = /^[a-z][a-z0-9_]{1,20}$/;

/** Characters of the random part of a key, and of a checksum. */
export const keyRandomChars = 43;
export const checksumChars = 6;
/** Characters of the body of a refresh token: 68 bytes in base62. */
export const refreshTokenBodyChars = 92;

/** A pattern for secret scanners: any API key with one of the given prefixes. */
export const keyPattern = (prefixes: readonly string[]): string =>
  `${prefixes.length === 1 ? prefixes[0] : `(?:${prefixes.join('|')})`}_[0-9A-Za-z]{${keyRandomChars + checksumChars}}`;
