/** The form of texts that a search in any case compares. */
import { withoutJoiners } from './joiners.ts';

/**
 * Two texts have the same folded form if they differ only in case or in joiners, or are the same in NFC. A text contains another
 * one, in any case, if its folded form contains the other folded form. Stored: a change of this function needs a migration.
 *
 * The case of a letter can change the number of letters (ß and SS) or depend on its place (σ and ς), and some capitals have a
 * lower case only (ẞ). So each letter becomes lower case, upper case and lower case again (Unicode 16 section 5.18). Also i, its Turkish
 * capital İ, ı and I are one letter: a search has no language.
 */
export const fold = (text: string): string =>
  withoutJoiners(text.normalize('NFC'))
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFC');

/** How many characters (code points) the texts of {@link trigramsOf} have. */
export const trigramLength = 3;

/** All sequences of three characters of a folded text, each once: an index of them finds the texts that contain it. */
export function trigramsOf(folded: string): string[] {
  const characters = [...folded];
  const starts = characters.slice(0, 1 - trigramLength);
  return [...new Set(starts.map((_, index) => characters.slice(index, index + trigramLength).join('')))];
}
