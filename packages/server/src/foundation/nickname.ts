/**
 * Nicknames of keys, and names of service accounts and passkeys. People read them, and headers contain them, so invisible and
 * deceptive characters are rejected (Unicode UTS 39), except joiners where words need them.
 */
import { limits } from '@keyreeve/contract/limits';
import { DomainError } from './errors.ts';
import { withoutNeededJoiners } from './joiners.ts';

/** Direction characters have the property Default_Ignorable_Code_Point. */
const rejected = /\p{Cc}|\p{Cs}|\p{Noncharacter_Code_Point}|\p{Default_Ignorable_Code_Point}|\p{Zl}|\p{Zp}/u;
const whiteSpaceAtEnds = /^\p{White_Space}|\p{White_Space}$/u;

/** @param pointer the JSON pointer of the text @returns the nickname in NFC @throws DomainError `nickname_invalid` */
export function validateNickname(text: string, pointer = '/nickname'): string {
  const subject = pointer === '/name' ? 'The name' : 'It';
  const problem = (fault: string): DomainError => {
    const detail = `${subject} ${fault}`;
    return new DomainError('nickname_invalid', { detail, errors: [{ pointer, detail }] });
  };
  if (!text.isWellFormed()) throw problem('contains half of a character (a lone surrogate).');
  const nickname = text.normalize('NFC');
  const codePoints = [...nickname].length;
  if (codePoints < 1 || codePoints > limits.nicknameCodePointsMax) {
    throw problem(`has ${codePoints} characters; 1 to ${limits.nicknameCodePointsMax} are allowed.`);
  }
  if (Buffer.byteLength(nickname) > limits.nicknameBytesMax) {
    throw problem(`has more than ${limits.nicknameBytesMax} bytes in UTF-8.`);
  }
  if (whiteSpaceAtEnds.test(nickname)) throw problem('starts or ends with white space.');
  // A space in place of an emoji, so that the letters beside it do not become neighbours.
  if (rejected.test(nickname) && rejected.test(withoutNeededJoiners(nickname.replaceAll(emoji(), ' ')))) {
    throw problem('contains a control, invisible, direction or reserved character.');
  }
  return nickname;
}

/** What no nickname has at its end: white space, and joiners, which join two letters. */
const endOfNone = /[\p{White_Space}\u200C\u200D]$/u;

/**
 * @param suffix ASCII
 * @returns the text, cut so that it can be a nickname with the suffix. It is cut between characters as people see them: a part of an emoji
 *   or of a word with joiners would be rejected
 */
export function withSuffix(text: string, suffix: string): string {
  const start = [...text].slice(0, limits.nicknameCodePointsMax + 1).join('');
  const characters = Array.from(new Intl.Segmenter().segment(start), ({ segment }) => segment);
  const bare = (): string => {
    let part = characters.join('');
    while (endOfNone.test(part)) part = part.slice(0, -1);
    return part;
  };
  const fits = (): boolean =>
    [...bare()].length + suffix.length <= limits.nicknameCodePointsMax &&
    Buffer.byteLength(bare()) + suffix.length <= limits.nicknameBytesMax;
  while (!fits()) characters.pop();
  return bare() + suffix;
}

let emojiPattern: RegExp | undefined;
/**
 * Emoji may contain joiners and variation selectors, which are rejected elsewhere. Compiled on first use: it takes 10 ms,
 * too long for the start.
 */
const emoji = (): RegExp => (emojiPattern ??= new RegExp(String.raw`\p{RGI_Emoji}`, 'gv'));
