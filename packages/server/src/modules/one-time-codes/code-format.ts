/** The text of a one-time code: `krvc_`, 256 random bits in base62, and a checksum as in API keys. */
import { checksum, hasChecksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

const prefix = 'krvc_';
const bodyChars = 43;
const pattern = /^krvc_[0-9A-Za-z]{49}$/;

export function makeOneTimeCode(): Secret {
  const text = prefix + randomBase62(bodyChars);
  return new Secret(text + checksum(text));
}

/** Checks format and checksum, so that a mistyped or truncated code is rejected without a read of the database. */
export const isOneTimeCode = (text: string): boolean => pattern.test(text) && hasChecksum(text, prefix.length);
