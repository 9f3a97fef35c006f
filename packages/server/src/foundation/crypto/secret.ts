/**
 * Random secrets as text, their checksums, and the wrapper that keeps a secret out of logs.
 * Random numbers come from the operating system (ASVS 11.5.1).
 */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { crc32 } from 'node:zlib';

const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 that a byte can hold: bytes from here on would favour the first digits. */
const unbiasedBytes = 248;

/** `chars` base62 characters, each of 5.954 random bits. */
export function randomBase62(chars: number): string {
  let text = '';
  while (text.length < chars) {
    for (const byte of randomBytes(chars - text.length + 8)) {
      if (byte < unbiasedBytes && text.length < chars) text += base62Digits.charAt(byte % 62);
    }
  }
  return text;
}

/** An id of at least 128 random bits behind a prefix that names its kind: `acc_…`, `ses_…`. */
export const randomId = (prefix: string): string => `${prefix}_${randomBase62(22)}`;

/** Six base62 characters of CRC-32: tells a mistyped or cut credential without asking anything. It proves nothing. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = base62Digits.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Bytes as a big-endian number in base62, padded to `chars`. */
export function toBase62(bytes: Uint8Array, chars: number): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (number > 0n) {
    text = base62Digits.charAt(Number(number % 62n)) + text;
    number /= 62n;
  }
  return text.padStart(chars, '0');
}

/** The inverse of {@link toBase62}; undefined for another character or a number that doesn't fit `byteCount` bytes. */
export function fromBase62(text: string, byteCount: number): Buffer | undefined {
  let number = 0n;
  for (const char of text) {
    const digit = base62Digits.indexOf(char);
    if (digit < 0) return undefined;
    number = number * 62n + BigInt(digit);
  }
  const hex = number.toString(16).padStart(byteCount * 2, '0');
  return hex.length === byteCount * 2 ? Buffer.from(hex, 'hex') : undefined;
}

/** A secret text that prints as `[redacted]` wherever it ends up by mistake; `reveal()` is the only way to it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}
