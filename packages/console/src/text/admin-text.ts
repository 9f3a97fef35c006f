/** The texts of the administrators' pages in the user's language. They load with these pages. */
import { translationIn, type ServerSentences } from './server-sentences.ts';
import { loadLater, textsIn } from './load-texts.ts';
import { locale } from './text.ts';
import type { AdminTexts } from './texts.ts';

/** Defined before the first of these pages is rendered. */
export let adminText: AdminTexts;

/** Translations of sentences that the server writes in English. Empty in English. */
let serverSentences: ServerSentences = [];

/** @returns undefined for a text that has no translation, such as one of a mail server */
export const translationOf = (sentence: string): string | undefined => translationIn(serverSentences, sentence);

export const loadAdminTexts = (): Promise<void> => loadLater(load);

async function load(): Promise<void> {
  serverSentences = [];
  adminText = await textsIn<AdminTexts>(
    locale,
    async () => (await import('./en-admin.ts')).enAdmin,
    async () => {
      const german = await import('./de-admin.ts');
      ({ serverSentences } = german);
      return german.deAdmin;
    },
  );
}
