/** The texts of the administrators' pages in the user's language. They load with these pages. */
import { locale } from './text.ts';
import type { AdminTexts } from './texts.ts';

/** Defined before the first of these pages is rendered. */
export let adminText: AdminTexts;

/** Translations of sentences that the server writes in English. Empty in English. */
let serverSentences: readonly (readonly [english: string, translation: string])[] = [];

/** @returns undefined for a text that has no translation, such as one of a mail server */
export function translationOf(sentence: string): string | undefined {
  for (const [english, translation] of serverSentences) {
    const values = patternOf(english).exec(sentence);
    if (!values) continue;
    return translation.replaceAll(/\{(\d)\}/g, (_, place: string) => {
      const value = values[Number(place)] ?? '';
      return translationOf(value) ?? value;
    });
  }
  return undefined;
}

const patternOf = (english: string): RegExp =>
  new RegExp(`^${english.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&').replaceAll(/\\\{\d\\\}/g, '(.*?)')}$`, 's');

export async function loadAdminTexts(): Promise<void> {
  serverSentences = [];
  if (/^de/i.test(locale)) ({ deAdmin: adminText, serverSentences } = await import('./de-admin.ts'));
  else ({ enAdmin: adminText } = await import('./en-admin.ts'));
  if (locale === 'en-XA' || locale === 'ar-XB') adminText = (await import('./pseudo.ts')).pseudo(adminText);
}
