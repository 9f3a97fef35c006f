/**
 * The texts in the user's language: the first of `navigator.languages` that the console has, otherwise English. `en-XA` and
 * `ar-XB` are pseudo languages for tests: longer texts, and right to left.
 */
import { en } from './en.ts';
import { pseudo } from './pseudo.ts';
import type { Texts } from './texts.ts';

export let text: Texts = en;
/** BCP 47, for `Intl` and the attribute `lang`. */
export let locale = 'en';

/** Before the first rendering. */
export async function loadTexts(languages: readonly string[]): Promise<void> {
  const known = languages.find((language) => /^(?:en|de|ar-XB$)/i.test(language)) ?? 'en';
  locale = known;
  if (/^de/i.test(known)) ({ de: text } = await import('./de.ts'));
  else if (known === 'en-XA' || known === 'ar-XB') text = pseudo(en);
  document.documentElement.lang = locale;
  document.documentElement.dir = known === 'ar-XB' ? 'rtl' : 'ltr';
}
