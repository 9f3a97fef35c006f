/**
 * The text formats of credentials. The prefix states the kind.
 *
 * API key:       `<prefix>_` + 43 base62 characters (256 random bits) + 6 of CRC-32 over all before them
 * short-lived secret: `krvt_`, then as in an API key
 * refresh token: `krvr_`     + 92 base62 characters (544 bits)        + 6 of CRC-32 over all before them
 * session cookie of the console: `krvs_` + 65 base62 characters (384 bits) + 6 of CRC-32 over all before them
 * token of a portal session: `krvp_`, and its secret: `krvq_`, then as in an API key
 */

/** The default prefix of API keys. */
export const keyPrefixDefault = 'krv';

/** Prefixes of other credentials, which API keys cannot have. */
export const refreshTokenPrefix = 'krvr';
export const oneTimeCodePrefix = 'krvc';
/** The prefix of short-lived secrets, which have the format of API keys. */
export const shortLivedSecretPrefix = 'krvt';
export const consoleSessionPrefix = 'krvs';
/** The prefix of device codes, with which programs fetch an API key. */
export const deviceCodePrefix = 'krvd';
/** The prefix of the single-use token in the URL of a portal session, and of the secret that the key page gets for it. */
export const portalTokenPrefix = 'krvp';
export const portalSecretPrefix = 'krvq';
export const reservedPrefixes: readonly string[] = [
  refreshTokenPrefix,
  oneTimeCodePrefix,
  shortLivedSecretPrefix,
  consoleSessionPrefix,
  deviceCodePrefix,
  portalTokenPrefix,
  portalSecretPrefix,
];

/** Prefixes that an operator can choose for API keys. */
export const keyPrefixPattern = /^[a-z][a-z0-9_]{1,20}$/;

/** Characters of the random part of a key, and of a checksum. */
export const keyRandomChars = 43;
export const checksumChars = 6;
/** Characters of the body of a refresh token: 68 bytes in base62. */
export const refreshTokenBodyChars = 92;
/** The same of a session cookie: 48 bytes. */
export const consoleSessionBodyChars = 65;

/** A pattern for secret scanners, which matches API keys with one of the prefixes. */
export const keyPattern = (prefixes: readonly string[]): string =>
  `${prefixes.length === 1 ? prefixes[0] : `(?:${prefixes.join('|')})`}_[0-9A-Za-z]{${keyRandomChars + checksumChars}}`;
