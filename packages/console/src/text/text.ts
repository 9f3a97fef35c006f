/**
 * The texts in the user's language: the first of `navigator.languages` that the console has, otherwise English. Each language
 * is a file of its own, so a browser loads only one. `en-XA` and `ar-XB` are pseudo languages for tests: longer texts, and right
 * to left.
 */
import type { Texts } from './texts.ts';

/** Defined before the first rendering. */
export let text: Texts;
/** BCP 47, for `Intl` and the attribute `lang`. */
export let locale = 'en';

export async function loadTexts(languages: readonly string[]): Promise<void> {
  const known = languages.find((language) => /^(?:en|de|ar-XB$)/i.test(language)) ?? 'en';
  locale = known;
  if (/^de/i.test(known)) ({ de: text } = await import('./de.ts'));
  else ({ en: text } = await import('./en.ts'));
  if (known === 'en-XA' || known === 'ar-XB') text = (await import('./pseudo.ts')).pseudo(text);
  document.documentElement.lang = locale;
  document.documentElement.dir = known === 'ar-XB' ? 'rtl' : 'ltr';
}
