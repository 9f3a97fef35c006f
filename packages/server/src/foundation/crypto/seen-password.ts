/**
 * What a scheme of another system sees of a password. Several typed passwords look the same to it. The hash that replaces an
 * imported one after a sign-in is therefore made of what the scheme saw, and marked: of the typed password, it could be
 * that of a typing error, and the owner's password would not work any more. A new password has no mark.
 */
import type { ForeignScheme } from './foreign-hash.ts';

/** `first72`: the first 72 bytes as typed. `nfkc`: its NFKC. `trim`: without white space at both ends, in NFC. */
export const seenForms = ['first72', 'nfkc', 'trim'] as const;
export type SeenForm = (typeof seenForms)[number];

const bcryptBytesMax = 72;

/** @param typed a password that the scheme accepted @returns undefined if the scheme saw the whole password */
export function seenFormOf(scheme: ForeignScheme, typed: string): SeenForm | undefined {
  switch (scheme) {
    case 'bcrypt':
    case 'bcrypt-suffix':
      // The owner's password can be longer than a typed one of 72 bytes.
      return Buffer.byteLength(typed) < bcryptBytesMax ? undefined : 'first72';
    case 'scrypt-nfkc':
      return 'nfkc';
    case 'bcrypt-wordpress':
    case 'phpass':
    case 'phpass-phpbb':
    case 'drupal7':
      return 'trim';
    default:
      return undefined;
  }
}

/** @param typed the password before normalisation */
export function seenOf(form: SeenForm, typed: string): string | Uint8Array {
  switch (form) {
    case 'first72':
      return Buffer.from(typed).subarray(0, bcryptBytesMax);
    case 'nfkc':
      return typed.normalize('NFKC');
    case 'trim':
      return trimmed(typed).normalize('NFC');
  }
}

/**
 * The texts that the other system can have hashed for a typed password. WordPress and phpBB hash an escaped form; other
 * applications use their libraries without that. Most passwords have one.
 */
export function readingsOf(scheme: ForeignScheme, typed: string): string[] {
  const bare = trimmed(typed);
  switch (scheme) {
    case 'bcrypt-wordpress':
    case 'phpass':
      return [...new Set([bare.replaceAll(/['"\\]/g, String.raw`\$&`), bare, typed])];
    case 'phpass-phpbb':
      return [...new Set([escapedHtml(bare.normalize('NFC')), bare, typed])];
    case 'drupal7':
      return [...new Set([bare, typed])];
    default:
      return [typed];
  }
}

/** As `trim` of PHP. */
const trimmed = (text: string): string =>
  text.replace(/^[ \t\n\r\0\v]+/, '').replace(/(?<![ \t\n\r\0\v])[ \t\n\r\0\v]+$/, '');

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
/** As `htmlspecialchars` of PHP with `ENT_COMPAT`. */
const escapedHtml = (text: string): string => text.replaceAll(/[&"<>]/g, (character) => entities[character] ?? '');
