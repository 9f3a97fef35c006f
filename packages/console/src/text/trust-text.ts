/** The texts about keys with a trust in the user's language. They load with the parts that show them. */
import { loadLater, locale } from './text.ts';
import type { TrustTexts } from './texts.ts';

/** Defined before the first of these parts is rendered. */
export let trustText: TrustTexts;

export const loadTrustTexts = (): Promise<void> => loadLater(load);

async function load(): Promise<void> {
  trustText = /^de/i.test(locale) ? (await import('./de-trust.ts')).deTrust : (await import('./en-trust.ts')).enTrust;
  if (locale === 'en-XA' || locale === 'ar-XB') trustText = (await import('./pseudo.ts')).pseudo(trustText);
}
