/** The texts about rotations and about keys with a trust in the user's language. They load with the parts that show them. */
import { loadLater, textsIn } from './load-texts.ts';
import { locale } from './text.ts';
import type { TrustTexts } from './texts.ts';

/** Defined before the first of these parts is rendered. */
export let trustText: TrustTexts;

export const loadTrustTexts = (): Promise<void> => loadLater(load);

async function load(): Promise<void> {
  trustText = await textsIn<TrustTexts>(
    locale,
    async () => (await import('./en-trust.ts')).enTrust,
    async () => (await import('./de-trust.ts')).deTrust,
  );
}
