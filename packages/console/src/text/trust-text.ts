/** The texts about rotations and about keys with a trust in the user's language. They load with the parts that show them. */
import { loadLater, textsIn } from './load-texts.ts';
import { setRotationTexts } from './rotation-text.ts';
import { locale } from './text.ts';
import type { RotationTexts, TrustTexts } from './texts.ts';

interface LaterTexts {
  readonly trust: TrustTexts;
  readonly rotation: RotationTexts;
}

/** Defined before the first of these parts is rendered. */
export let trustText: TrustTexts;

export const loadTrustTexts = (): Promise<void> => loadLater(load);

async function load(): Promise<void> {
  const { trust, rotation } = await textsIn<LaterTexts>(
    locale,
    async () => (({ enTrust, rotation: en }) => ({ trust: enTrust, rotation: en }))(await import('./en-trust.ts')),
    async () => (({ deTrust, rotation: de }) => ({ trust: deTrust, rotation: de }))(await import('./de-trust.ts')),
  );
  trustText = trust;
  setRotationTexts(rotation);
}
