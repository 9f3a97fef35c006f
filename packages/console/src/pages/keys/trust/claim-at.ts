/** Reads a claim of a rejected identity token. */

/**
 * @param claims of the token; of a large token, only those that the trust names, each as a member whose name is its pointer
 * @param pointer RFC 6901
 * @returns undefined if there is no such claim
 */
export function claimAt(claims: object, pointer: string): unknown {
  if (Object.hasOwn(claims, pointer)) return (claims as Readonly<Record<string, unknown>>)[pointer];
  let value: unknown = claims;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
