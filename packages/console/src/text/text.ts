/**
 * The texts in the language that the person has chosen in this browser. Otherwise in the first of `navigator.languages` that the
 * console has, otherwise in English. Each language is a file of its own, so a browser loads only one. `en-XA` and `ar-XB` are pseudo languages for tests: longer texts, and right
 * to left.
 */
import { signal } from '@preact/signals';
import { stored } from '../stored.ts';
import type { Texts } from './texts.ts';

/** Defined before the first rendering. */
export let text: Texts;
/** BCP 47, for `Intl` and the attribute `lang`. */
export let locale = 'en';

/** Languages that a person can choose. */
export const languages = ['en', 'de'] as const;
/** Changes with the texts, so that what shows them is rendered again. */
export const textsVersion = signal(0);

export const chosenLanguage = (): string => languages.find((language) => language === stored('language')) ?? 'system';

/** @param preferred the languages of the browser. One that the person has chosen comes first, in the region of the browser */
export async function loadTexts(preferred: readonly string[] = navigator.languages): Promise<void> {
  const isSupported = (language: string): boolean => /^(?:en|de|ar-XB$)/i.test(language);
  const chosen = chosenLanguage();
  const known =
    chosen === 'system'
      ? (preferred.find(isSupported) ?? 'en')
      : (preferred.find((language) => language.toLowerCase().startsWith(chosen)) ?? chosen);
  const texts: Texts = /^de/i.test(known) ? (await import('./de.ts')).de : (await import('./en.ts')).en;
  text = known === 'en-XA' || known === 'ar-XB' ? (await import('./pseudo.ts')).pseudo(texts) : texts;
  locale = known;
  document.documentElement.lang = locale;
  document.documentElement.dir = known === 'ar-XB' ? 'rtl' : 'ltr';
}
