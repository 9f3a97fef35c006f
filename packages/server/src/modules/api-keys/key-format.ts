/** API keys as text: `<prefix>_`, 43 random characters, 6 of checksum. */
import { checksumChars, keyRandomChars, limits, oneTimeCodePrefix, refreshTokenPrefix } from '@keyreeve/contract';
import { checksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

/** What a text is, judged by its form alone: nothing is read for what isn't `key`. */
export type KeyForm = 'key' | 'wrong_kind' | 'malformed';

const tailChars = keyRandomChars + checksumChars;
const tailPattern = /^[0-9A-Za-z]+$/;

export function makeKey(prefix: string): Secret {
  const unchecked = `${prefix}_${randomBase62(keyRandomChars)}`;
  return new Secret(unchecked + checksum(unchecked));
}

/** @param prefixes the installation's own and those it used before */
export function formOf(text: string, prefixes: readonly string[]): KeyForm {
  if (isShaped(text, prefixes)) {
    const bodyEnd = text.length - checksumChars;
    if (text.slice(bodyEnd) !== checksum(text.slice(0, bodyEnd))) return 'malformed';
    return tailPattern.test(text.slice(-tailChars)) ? 'key' : 'malformed';
  }
  return text.startsWith(`${refreshTokenPrefix}_`) || text.startsWith(`${oneTimeCodePrefix}_`)
    ? 'wrong_kind'
    : 'malformed';
}

/**
 * Whether a text that is none of our credentials could be a key that another system made: only then, and only where such
 * keys were imported, is it looked up. A JWT never is one, nor what looks like a key of ours with a wrong checksum.
 */
export const mayBeImported = (text: string, prefixes: readonly string[]): boolean =>
  text !== '' &&
  text.length <= limits.importedKeyCharsMax &&
  !text.startsWith('eyJ') &&
  formOf(text, prefixes) === 'malformed' &&
  !isShaped(text, prefixes);

/** As long as a key, and behind one of the prefixes. */
function isShaped(text: string, prefixes: readonly string[]): boolean {
  const separator = text.length - tailChars - 1;
  for (const prefix of prefixes) {
    if (separator === prefix.length && text.startsWith(prefix) && text.charCodeAt(separator) === 0x5f) return true;
  }
  return false;
}
