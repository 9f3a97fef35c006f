/** The language of the page: that of the host if the page has it, otherwise the first one of the browser that the page has, or English. */

/** BCP 47, with the region, in which `Intl` formats times and numbers. */
export function languageOf(wanted: string | undefined, preferred: readonly string[]): string {
  return [wanted, ...preferred].map(canonical).find((tag) => tag !== undefined && isKnown(tag)) ?? 'en';
}

const isKnown = (tag: string): boolean => /^(?:en|de)(?:-|$)/.test(tag) && !/^en-XA$/i.test(tag);

export const isGerman = (tag: string): boolean => /^de(?:-|$)/.test(tag);

/** @returns undefined for a text that is not a language tag (RFC 5646) */
function canonical(tag: string | undefined): string | undefined {
  if (tag === undefined) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
