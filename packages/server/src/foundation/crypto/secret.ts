/**
 * Random secrets as text, their checksums, and a type that keeps secrets out of logs. Random bytes come from the
 * operating system's generator (ASVS 11.5.1).
 */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { crc32 } from 'node:zlib';

const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 that a byte can hold. Larger bytes are skipped: they would favour the first digits. */
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

/** A prefix that names the kind (`acc_`, `ses_`), and 131 random bits. */
export const randomId = (prefix: string): string => `${prefix}_${randomBase62(22)}`;

/** As in the contract, which threads that hash passwords do not load. */
const checksumChars = 6;

/** CRC-32 as six base62 characters. It detects a mistyped or truncated credential without a lookup and proves nothing. */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumChars; index++) {
    digits = base62Digits.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/**
 * Whether the text ends with the {@link checksum} of what is before it, and has only base62 characters from `start` on: 0.2 µs,
 * against 0.5 µs with the checksum as text and a regular expression.
 */
export function hasChecksum(text: string, start: number): boolean {
  const end = text.length - checksumChars;
  let stated = 0;
  for (let i = start; i < text.length; i++) {
    const digit = base62Values[text.charCodeAt(i)] ?? notBase62;
    if (digit === notBase62) return false;
    if (i >= end) stated = stated * 62 + digit;
  }
  return start <= end && stated === crc32(text.slice(0, end));
}

const notBase62 = 62;
/** By character code. */
const base62Values = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = base62Digits.indexOf(String.fromCharCode(code));
  return value < 0 ? notBase62 : value;
});

/** Bytes as a big-endian number in base62, padded to `chars` characters. */
export function toBase62(bytes: Uint8Array, chars: number): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (number > 0n) {
    text = base62Digits.charAt(Number(number % 62n)) + text;
    number /= 62n;
  }
  return text.padStart(chars, '0');
}

/**
 * The inverse of {@link toBase62}.
 * @returns undefined for another character, or a number that does not fit into `byteCount` bytes
 */
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

/** A secret text. Printing or serialising it yields `[redacted]`; only `reveal()` returns it. */
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
