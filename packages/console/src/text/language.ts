/** The language of this browser: the one that the person has chosen, or the first of the browser's that the console has, or English. */
import { stored } from '../stored.ts';

/** Languages that a person can choose. */
export const languages = ['en', 'de'] as const;

export const chosenLanguage = (): string => languages.find((language) => language === stored('language')) ?? 'system';

/**
 * @param preferred the languages of the browser. One that the person has chosen comes first, in the region of the browser
 * @returns BCP 47
 */
export function languageOf(preferred: readonly string[]): string {
  const isSupported = (language: string): boolean => /^(?:en|de|ar-XB$)/i.test(language);
  const chosen = chosenLanguage();
  return chosen === 'system'
    ? (preferred.find(isSupported) ?? 'en')
    : (preferred.find((language) => language.toLowerCase().startsWith(chosen)) ?? chosen);
}

/** The name of the file with the texts. */
export const textsOf = (language: string): (typeof languages)[number] => (/^de/i.test(language) ? 'de' : 'en');
