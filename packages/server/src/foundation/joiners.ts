/**
 * Joiners: the invisible characters U+200C (zero width non-joiner) and U+200D (zero width joiner). Words of Persian, Hindi, Malayalam,
 * Sinhala and other languages need them. Elsewhere they can make two texts look the same.
 */

// Ranges of code points of Unicode 14, in hexadecimal. Regular expressions of JavaScript lack these properties.

/** Canonical_Combining_Class is Virama: the signs after which a consonant joins the next one. */
const viramas =
  '94d 9cd a4d acd b4d bcd c4d ccd d3b-d3c d4d dca e3a eba f84 1039-103a 1714-1715 1734 17d2 1a60 1b44 ' +
  '1baa-1bab 1bf2-1bf3 2d7f a806 a82c a8c4 a953 a9c0 aaf6 abed 10a3f 11046 11070 1107f 110b9 11133-11134 111c0 ' +
  '11235 112ea 1134d 11442 114c2 115bf 1163f 116b6 1172b 11839 1193d-1193e 119e0 11a34 11a47 11a99 11c3f ' +
  '11d44-11d45 11d97';
/** Joining_Type is L, D or R: the letters of cursive scripts that join another letter. */
const cursiveLetters =
  '620 622-63f 641-64a 66e-66f 671-673 675-6d3 6d5 6ee-6ef 6fa-6fc 6ff 710 712-72f 74d-77f 7ca-7ea 840-858 860 ' +
  '862-865 867-86a 870-882 886 889-88e 8a0-8ac 8ae-8c8 1807 1820-1878 1887-18a8 18aa a840-a872 10ac0-10ac5 ' +
  '10ac7 10ac9-10aca 10acd-10ae1 10ae4 10aeb-10aef 10b80-10b91 10ba9-10bae 10d00-10d23 10f30-10f44 10f51-10f54 ' +
  '10f70-10f81 10fb0 10fb2-10fb6 10fb8-10fbf 10fc1-10fc4 10fc9-10fcb 1e900-1e943';

const classOf = (ranges: string): string =>
  ranges
    .split(' ')
    .map((range) => range.replaceAll(/[0-9a-f]+/g, String.raw`\u{$&}`))
    .join('');

/** Transparent: marks, which letters join across. */
const marks = String.raw`[\p{Mn}\p{Me}]*`;
const letter = `[${classOf(cursiveLetters)}]`;
/** The joiner comes first, so that the search for it takes linear time. */
const afterVirama = String.raw`[\u200C\u200D](?<=[${classOf(viramas)}].)`;
const betweenLetters = String.raw`\u200C(?<=${letter}${marks}.)(?=${marks}${letter})`;

let neededPatterns: { readonly one: RegExp; readonly between: RegExp } | undefined;
/**
 * A joiner where words need it: after a virama (RFC 5892 appendix A.1 and A.2), or a non-joiner between two letters of cursive
 * scripts (A.1). Unlike A.1, the letter before may be one that never joins the next letter: Persian writes its plural in the same way after all
 * letters. Compiled on first use, which is rare.
 */
const needed = (): NonNullable<typeof neededPatterns> =>
  (neededPatterns ??= {
    one: new RegExp(`${afterVirama}|${betweenLetters}`, 'gu'),
    // `split` returns also what a group matches.
    between: new RegExp(`(${afterVirama}|${betweenLetters})`, 'u'),
  });

const hasJoiner = /[\u200C\u200D]/;

/** The text without the joiners that its words need. Other joiners stay. */
export const withoutNeededJoiners = (text: string): string =>
  hasJoiner.test(text) ? text.replaceAll(needed().one, '') : text;

/** Replaces what the pattern matches, except the joiners that words need. @param pattern with the flag `g` */
export function replaceExceptJoiners(text: string, pattern: RegExp, replacement: string): string {
  if (!hasJoiner.test(text)) return text.replaceAll(pattern, replacement);
  const parts = text.split(needed().between);
  return parts.map((part, index) => (index % 2 === 0 ? part.replaceAll(pattern, replacement) : part)).join('');
}

/** Uniqueness and searches ignore joiners. {@link file://./database/joiners.ts} has the same for SQL. */
export const withoutJoiners = (text: string): string => text.replaceAll(/[\u200C\u200D]/g, '');
