/**
 * Loads the texts in the language of this browser (language.ts). Each language is a file of its own, so a browser loads only one. `en-XA`
 * and `ar-XB` are pseudo languages for tests: longer texts, and right to left.
 */
import { languageOf, textsOf } from './language.ts';
import { setTexts, textsVersion } from './text.ts';
import type { Texts } from './texts.ts';

/** The loads of texts that came later, such as those of administrators: another language repeats them. */
const laterLoads = new Set<() => Promise<void>>();

/** Loads texts that the first load lacks. */
export async function loadLater(load: () => Promise<void>): Promise<void> {
  laterLoads.add(load);
  await load();
}

/** @param language BCP 47 @param en loads the texts in English @param de the same in German */
export async function textsIn<T extends object>(
  language: string,
  en: () => Promise<T>,
  de: () => Promise<T>,
): Promise<T> {
  const texts = await (textsOf(language) === 'de' ? de() : en());
  return language === 'en-XA' || language === 'ar-XB' ? (await import('./pseudo.ts')).pseudo(texts) : texts;
}

/** In the language that the person has chosen. */
export async function reloadTexts(): Promise<void> {
  await loadTexts();
  await Promise.all([...laterLoads].map((load) => load()));
  textsVersion.value++;
}

/** @param preferred the languages of the browser */
export async function loadTexts(preferred: readonly string[] = navigator.languages): Promise<void> {
  const known = languageOf(preferred);
  const texts = await textsIn<Texts>(
    known,
    async () => (await import('./en.ts')).en,
    async () => (await import('./de.ts')).de,
  );
  setTexts(texts, known);
}
