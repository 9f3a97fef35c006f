/** The encodings of salts and digests in password hashes of other systems. */
import { ForeignHashError } from './foreign-hash.ts';

/** Standard and URL-safe alphabet, with or without padding. passlib writes `.` for `+`. @throws ForeignHashError */
export function base64(text: string): Buffer {
  const bare = text
    .replace(/(?<!=)=+$/, '')
    .replaceAll(/[.-]/g, '+')
    .replaceAll('_', '/');
  if (bare.length % 4 === 1) throw new ForeignHashError('its salt or digest is truncated');
  return Buffer.from(bare, 'base64');
}

/** @throws ForeignHashError for an odd number of digits */
export function hex(text: string): Buffer {
  if (text.length % 2 === 1) throw new ForeignHashError('its salt or digest is truncated');
  return Buffer.from(text, 'hex');
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const bcryptDigits = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const cryptDigits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const translate = (text: string, from: string, to: string): string =>
  [...text].map((digit) => to.charAt(from.indexOf(digit))).join('');

/** @param text 22 characters @returns 16 bytes */
export const bcryptSalt = (text: string): Buffer => base64(translate(text, bcryptDigits, base64Digits));

/** The inverse of {@link bcryptSalt}. The last two bits of the 22 characters are zero. */
export const bcryptSaltText = (salt: Uint8Array): string =>
  translate(Buffer.from(salt).toString('base64').replaceAll('=', ''), base64Digits, bcryptDigits);

/** The least significant digit first. */
export const cryptNumber = (text: string): number =>
  [...text].reduceRight((sum, digit) => sum * 64 + cryptDigits.indexOf(digit), 0);

/** Four digits encode three bytes. The least significant digit and byte come first. */
export function cryptBytes(text: string): Buffer {
  const bytes: number[] = [];
  for (let start = 0; start < text.length; start += 4) {
    const group = text.slice(start, start + 4);
    const number = cryptNumber(group);
    for (let byte = 0; byte < Math.floor((group.length * 6) / 8); byte++) bytes.push((number >> (8 * byte)) & 0xff);
  }
  return Buffer.from(bytes);
}

/** Parses `m=65536,t=3,p=4`, in any order. @throws ForeignHashError for other parameters: they would change the result */
export function readList(
  list: string,
  names: readonly string[],
  optional: readonly string[] = [],
): Readonly<Record<string, number>> {
  const pairs = list.split(',').map((part): [string, number] => {
    const [name = '', value = ''] = part.split('=');
    if (![...names, ...optional].includes(name))
      throw new ForeignHashError(`its parameter ${name.slice(0, 16)} is not supported`);
    if (!/^\d{1,10}$/.test(value)) throw new ForeignHashError(`its parameter ${name} is not a number`);
    return [name, Number(value)];
  });
  const values = Object.fromEntries(pairs);
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length || !names.every((name) => name in values))
    throw new ForeignHashError(`its parameters are not ${names.join(', ')}, once each`);
  return values;
}
