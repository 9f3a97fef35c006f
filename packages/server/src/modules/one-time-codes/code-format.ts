/** The text of a one-time code: `krvc_`, 256 random bits in base62, and their checksum, as API keys have it. */
import { checksum, randomBase62, Secret } from '../../foundation/crypto/secret.ts';

const prefix = 'krvc_';
const bodyChars = 43;
const pattern = /^krvc_[0-9A-Za-z]{49}$/;

export function makeOneTimeCode(): Secret {
  const text = prefix + randomBase62(bodyChars);
  return new Secret(text + checksum(text));
}

/** Whether it can be one at all: a mistyped or cut one is refused without asking anything. */
export const isOneTimeCode = (text: string): boolean =>
  pattern.test(text) && checksum(text.slice(0, prefix.length + bodyChars)) === text.slice(prefix.length + bodyChars);
