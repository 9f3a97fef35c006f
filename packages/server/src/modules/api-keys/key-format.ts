/** The format of API keys: `<prefix>_`, 43 random characters, 6 characters of checksum. */
import {
  checksumChars,
  consoleSessionPrefix,
  deviceCodePrefix,
  keyRandomChars,
  limits,
  oneTimeCodePrefix,
  portalSecretPrefix,
  portalTokenPrefix,
  refreshTokenPrefix,
  shortLivedSecretPrefix,
} from '@keyreeve/contract';
import { checksum, hasChecksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

/** The kind of a credential by its format. Only `key` needs a database read. */
export type KeyForm = 'key' | 'wrong_kind' | 'malformed';

const tailChars = keyRandomChars + checksumChars;
/** The checksum depends on the random characters, so these disclose 24 of their 256 bits. */
const hintChars = 4;

export function makeKey(prefix: string): Secret {
  const unchecked = `${prefix}_${randomBase62(keyRandomChars)}`;
  return new Secret(unchecked + checksum(unchecked));
}

/** The part of a key that may be shown: its prefix and its last four characters, as in `krv_…x7Qa`. */
export function hintOf(key: Secret): string {
  const text = key.reveal();
  return `${text.slice(0, -tailChars)}…${text.slice(-hintChars)}`;
}

/** @param key text in the format of our keys */
export const prefixOf = (key: string): string => key.slice(0, -tailChars - 1);

/** @param prefixes the current prefix and the earlier ones */
export function formOf(text: string, prefixes: readonly string[]): KeyForm {
  if (hasKeyShape(text, prefixes)) return hasChecksum(text, text.length - tailChars) ? 'key' : 'malformed';
  return otherPrefixes.some((prefix) => text.startsWith(`${prefix}_`)) ? 'wrong_kind' : 'malformed';
}

/** Whether a key of another system can begin like this. A text that begins otherwise is never looked up as one. */
export const canBegin = (start: string): boolean =>
  !start.startsWith('eyJ') &&
  !/[\s,\p{Cc}]/u.test(start) &&
  !otherPrefixes.some((prefix) => start.startsWith(`${prefix}_`));

/** Of credentials that no verification accepts. */
const otherPrefixes = [
  refreshTokenPrefix,
  oneTimeCodePrefix,
  consoleSessionPrefix,
  deviceCodePrefix,
  portalTokenPrefix,
  portalSecretPrefix,
];

const shortLivedPrefixes = [shortLivedSecretPrefix];

/** Whether a text has the prefix and the length of a short-lived secret. Its prefix is reserved, so no key has it. */
export const hasShortLivedShape = (text: string): boolean => hasKeyShape(text, shortLivedPrefixes);

/** {@link formOf} for a short-lived secret, which has the format of a key. */
export const shortLivedFormOf = (text: string): KeyForm => formOf(text, shortLivedPrefixes);

/**
 * Whether a text can be an imported key of another system. A JWT cannot, nor can a text with the prefix and length of our
 * own keys or of short-lived secrets.
 */
export const mayBeImported = (text: string, prefixes: readonly string[]): boolean =>
  text !== '' &&
  text.length <= limits.importedKeyCharsMax &&
  !text.startsWith('eyJ') &&
  formOf(text, prefixes) === 'malformed' &&
  !hasKeyShape(text, prefixes) &&
  !hasShortLivedShape(text);

/** Has the length of a key and one of the prefixes. */
function hasKeyShape(text: string, prefixes: readonly string[]): boolean {
  const separator = text.length - tailChars - 1;
  for (const prefix of prefixes) {
    if (separator === prefix.length && text.startsWith(prefix) && text.charCodeAt(separator) === 0x5f) return true;
  }
  return false;
}
