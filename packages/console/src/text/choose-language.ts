/** Changes the language of the open page, and of later ones in this browser. */
import { store } from '../stored.ts';
import { reloadTexts } from './load-texts.ts';

/** @param language `system` or one of `languages` @throws Error if the texts cannot be loaded */
export async function chooseLanguage(language: string): Promise<void> {
  store('language', language === 'system' ? undefined : language);
  await reloadTexts();
}
