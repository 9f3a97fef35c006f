/** Which characters a free text may contain. */

/** Control, format, private-use and unpaired characters, and line separators. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

/** PostgreSQL cannot store U+0000, and the other characters change how people read a text. */
export const isPrintable = (text: string): boolean => !unprintable.test(text);
