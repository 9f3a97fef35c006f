/**
 * Nicknames: text that people read and that travels in headers, so what can't be seen or could deceive is refused
 * (Unicode UTS 39).
 */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';

/** Direction characters are among those that Unicode calls ignorable. */
const refused = /\p{Cc}|\p{Cs}|\p{Noncharacter_Code_Point}|\p{Default_Ignorable_Code_Point}|\p{Zl}|\p{Zp}/u;
const whiteSpaceAtEnds = /^\p{White_Space}|\p{White_Space}$/u;

/** @returns the nickname in NFC @throws DomainError `nickname_invalid` */
export function acceptNickname(text: string): string {
  const problem = (detail: string): DomainError =>
    new DomainError('nickname_invalid', { detail, errors: [{ pointer: '/nickname', detail }] });
  if (!text.isWellFormed()) throw problem('It holds half of a character (a lone surrogate).');
  const nickname = text.normalize('NFC');
  const codePoints = [...nickname].length;
  if (codePoints < 1 || codePoints > limits.nicknameCodePointsMax) {
    throw problem(`It has ${codePoints} characters; allowed are 1 to ${limits.nicknameCodePointsMax}.`);
  }
  if (Buffer.byteLength(nickname) > limits.nicknameBytesMax) {
    throw problem(`It has more than ${limits.nicknameBytesMax} bytes in UTF-8.`);
  }
  if (whiteSpaceAtEnds.test(nickname)) throw problem('It begins or ends with white space.');
  if (refused.test(nickname) && refused.test(nickname.replaceAll(emoji(), ''))) {
    throw problem('It holds a control, invisible or direction character, or one that Unicode reserves.');
  }
  return nickname;
}

let emojiPattern: RegExp | undefined;
/**
 * Emoji may hold joiners and variation selectors, which are invisible elsewhere. Made when first needed: that takes 10 ms,
 * which a start hasn't to spare.
 */
const emoji = (): RegExp => (emojiPattern ??= new RegExp(String.raw`\p{RGI_Emoji}`, 'gv'));
