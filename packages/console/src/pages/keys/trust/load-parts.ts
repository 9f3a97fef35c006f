/** Loads the parts about keys with a trust, with their texts. */
import { loadTrustTexts } from '../../../text/trust-text.ts';
import type { TrustParts } from '../trust-parts.ts';

export async function loadParts(): Promise<TrustParts> {
  const [parts] = await Promise.all([import('./parts.ts'), loadTrustTexts()]);
  return parts;
}
