/** Nicknames of imported keys: other systems allow any text, several times, and none. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import type { Warn } from './fields.ts';

const nameless = 'default';
const invisible = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]+/gu;

/** @returns the text as a nickname, without what a nickname cannot contain; `default` if nothing is left */
export function nicknameOf(value: unknown, warn: Warn): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (text === '') {
    warn(`the key has no nickname and gets “${nameless}”`);
    return nameless;
  }
  const valid = validOf(text);
  if (valid !== undefined) return valid;
  warn('the nickname is shortened, or loses white space and control characters, as nicknames here require');
  const bare = text.toWellFormed().normalize('NFC').replaceAll(invisible, ' ').trim();
  return validOf(shortened(bare, '')) ?? nameless;
}

/** @returns `<nickname> (<number>)`, shortened as needed */
export const numbered = (nickname: string, number: number): string => {
  const suffix = ` (${number})`;
  return `${shortened(nickname, suffix)}${suffix}`;
};

/** Cuts a text so that it can be a nickname with the suffix. */
function shortened(text: string, suffix: string): string {
  const chars = [...text].slice(0, limits.nicknameCodePointsMax - suffix.length);
  while (Buffer.byteLength(chars.join('')) > limits.nicknameBytesMax - suffix.length) chars.pop();
  return chars.join('').trimEnd();
}

function validOf(text: string): string | undefined {
  try {
    return validateNickname(text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}
