/**
 * The texts that the page shows. The console loads those of a language (load-texts.ts), and the key page in the frame its own ones.
 */
import { signal } from '@preact/signals';
import type { Texts } from './texts.ts';

/** Defined before the first rendering. */
export let text: Texts;
/** BCP 47, for `Intl` and the attribute `lang`. */
export let locale = 'en';

/** Changes with the texts, so that what shows them is rendered again. */
export const textsVersion = signal(0);

/** @param language BCP 47 */
export function setTexts(texts: Texts, language: string): void {
  text = texts;
  locale = language;
  document.documentElement.lang = locale;
  document.documentElement.dir = language === 'ar-XB' ? 'rtl' : 'ltr';
}
