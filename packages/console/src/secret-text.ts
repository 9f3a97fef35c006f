/** Recognizes texts that may contain the secret of a key. They must not be in a URL, which histories and logs of proxies keep. */

const wordsOf = (text: string): string[] => text.split(/[\s"'`,;]+/);

/** Random characters in one piece, as in hexadecimal secrets of other systems, or letters of both cases with digits. */
const isRandom = (word: string): boolean =>
  (word.match(/[0-9A-Za-z]{32,}/g) ?? []).some((piece) => /\d/.test(piece)) ||
  [/\d/, /[a-z]/, /[A-Z]/].every((kind) => kind.test(word));

/** @returns a word that may be a secret, also between other words, as in `Authorization: Bearer …`; undefined without one */
export const secretIn = (text: string): string | undefined =>
  wordsOf(text).find((word) => word.length >= 32 && !word.includes('…') && isRandom(word));

export const hasSecret = (text: string): boolean => secretIn(text) !== undefined;
