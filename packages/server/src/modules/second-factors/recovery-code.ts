/**
 * Recovery codes: 120 random bits in Crockford's base32, in groups for typing. From 112 bits on, storage needs a fast keyed
 * hash only (ASVS 5.0 6.5.2), and guesses need no limit.
 */
import { randomBytes } from 'node:crypto';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { Secret } from '../../foundation/crypto/secret.ts';

/** Without I, L, O and U, which resemble other characters. */
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const chars = 24;
const normalPattern = /^[0-9A-HJKMNP-TV-Z]{24}$/;

export function makeRecoveryCode(): Secret {
  // 32 divides 256: every digit is as likely as any other.
  const text = Array.from(randomBytes(chars), (byte) => digits.charAt(byte % digits.length)).join('');
  return new Secret(text.replaceAll(/.{4}(?!$)/g, '$&-'));
}

/** Accepts any case and grouping, O for 0, and I or L for 1. */
function normalize(text: string): string | undefined {
  const normal = text.replaceAll(/[\s-]/g, '').toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return normalPattern.test(normal) ? normal : undefined;
}

/** @returns the hash to look up a code by, which covers the account and the purpose; undefined if the text is no code */
export function recoveryCodeHash(hash: KeyedHash, accountId: string, text: string): Buffer | undefined {
  const normal = normalize(text);
  return normal === undefined ? undefined : hash.stored(JSON.stringify(['recovery code', accountId, normal]));
}
