/** API keys as text: `<prefix>_`, 43 random characters, 6 of checksum. */
import { checksumChars, keyRandomChars, oneTimeCodePrefix, refreshTokenPrefix } from '@keyreeve/contract';
import { checksum, randomBase62, Secret } from '../crypto/secret.ts';

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
  const separator = text.length - tailChars - 1;
  for (const prefix of prefixes) {
    if (separator !== prefix.length || !text.startsWith(prefix) || text.charCodeAt(separator) !== 0x5f) continue;
    const bodyEnd = text.length - checksumChars;
    if (text.slice(bodyEnd) !== checksum(text.slice(0, bodyEnd))) return 'malformed';
    return tailPattern.test(text.slice(separator + 1)) ? 'key' : 'malformed';
  }
  return text.startsWith(`${refreshTokenPrefix}_`) || text.startsWith(`${oneTimeCodePrefix}_`)
    ? 'wrong_kind'
    : 'malformed';
}
