/** Nicknames of imported keys: other systems allow any text, several times, and none. */
import { DomainError } from '../../foundation/errors.ts';
import { validateNickname, withSuffix } from '../../foundation/nickname.ts';
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
  return validOf(withSuffix(bare, '')) ?? nameless;
}

/** @returns `<nickname> (<number>)`, shortened as needed */
export const numbered = (nickname: string, number: number): string => withSuffix(nickname, ` (${number})`);

function validOf(text: string): string | undefined {
  try {
    return validateNickname(text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}
