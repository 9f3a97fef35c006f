/** Rules for new passwords. Existing passwords are not checked again. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { CommonPasswords } from './common-passwords.ts';
import type { Email } from './email.ts';

/** Characters that a password must have besides the words that an attacker would guess (ASVS 6.2.11). */
const ownCharsMin = 8;

export interface PasswordRules {
  /** Code points. */
  readonly lengthMin: number;
  /** Words that do not count: the product, the host. */
  readonly contextWords: readonly string[];
  /** Passwords that attackers try first. */
  readonly common: CommonPasswords;
}

/** The form in which a password is hashed: NFC (RFC 8265 OpaqueString), not truncated or trimmed. */
export const normalizePassword = (password: string): string => password.normalize('NFC');

/** @throws DomainError `password_…` @returns the password in the form in which it is hashed */
export function acceptNewPassword(password: string, email: Email, rules: PasswordRules): string {
  const normal = normalizePassword(password);
  if (!normal.isWellFormed() || /\p{Cc}/u.test(normal)) throw new DomainError('password_invalid');
  if (Buffer.byteLength(normal) > limits.passwordBytesMax) throw new DomainError('password_too_long');
  const length = [...normal].length;
  if (length < rules.lengthMin) {
    throw new DomainError('password_too_short', {
      detail: `A password has at least ${rules.lengthMin} characters; this one has ${length}.`,
    });
  }
  const words = [...rules.contextWords, ...email.canonicalEmail.split('@'), ...email.canonicalEmail.split(/[@.+_-]/)];
  if (ownLength(normal, words) < Math.min(ownCharsMin, rules.lengthMin)) throw new DomainError('password_context');
  if (isCommon(normal, rules.common)) throw new DomainError('password_common');
  return normal;
}

/** Also finds repetitions, with any punctuation between them: `passwordpassword`, `password - password`. */
function isCommon(password: string, common: CommonPasswords): boolean {
  const lower = password.toLowerCase();
  const unsigned = lower.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const part = onceEach(unsigned);
  return common.has(password) || common.has(onceEach(lower)) || (part !== unsigned && common.has(part));
}

/** Length without the words, and with each run of a repeated part counted once. */
function ownLength(password: string, words: readonly string[]): number {
  let rest = password.toLowerCase();
  for (const word of words.filter((candidate) => candidate.length >= 3).toSorted((a, b) => b.length - a.length)) {
    rest = rest.replaceAll(word.toLowerCase(), '');
  }
  return [...onceEach(rest)].length;
}

/** The shortest part that gives the text when repeated: `ab` of `ababab`, `a` of `aaaa`. */
function onceEach(text: string): string {
  for (let size = 1; size <= text.length / 2; size++) {
    const part = text.slice(0, size);
    if (part.repeat(Math.ceil(text.length / size)).startsWith(text)) return part;
  }
  return text;
}
