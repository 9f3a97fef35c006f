/** Claims of identity tokens: their JSON pointers (RFC 6901), and whether they are those that a trust names. */

/** A value that a trust compares, with its JSON type. */
export type ClaimValue = string | number | boolean;

/** Pointers of claims with their values. */
export type TrustedClaims = Readonly<Record<string, ClaimValue>>;

type Claims = Readonly<Record<string, unknown>>;

/** Further names than `~0` and `~1` are none (RFC 6901 section 3). */
const pointerPattern = /^(?:\/(?:[^~/]|~[01])+)+$/;

/**
 * The pointer of a claim. A name that does not begin with `/` is that of a claim of the token.
 * @returns undefined for an empty name, and for a text that begins with `/` and is no pointer with names
 */
export function toPointer(name: string): string | undefined {
  const pointer = name.startsWith('/') ? name : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return pointerPattern.test(pointer) ? pointer : undefined;
}

/** The name of a claim for a message: without the `/` if it is a claim of the token. */
export const nameOf = (pointer: string): string =>
  pointer.indexOf('/', 1) < 0 ? pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~') : pointer;

/** @returns undefined if there is none. Items of lists have no pointers */
export function claimAt(claims: Claims, pointer: string): unknown {
  let found: unknown = claims;
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Claims)[name];
  }
  return found;
}

/**
 * Whether each claim of a trust is in the token, with the same value and JSON type.
 * @param listClaims pointers of claims that the issuer declares as lists: these may contain the value
 */
export const matches = (trusted: TrustedClaims, claims: Claims, listClaims: readonly string[]): boolean =>
  Object.entries(trusted).every(([pointer, value]) => {
    const found = claimAt(claims, pointer);
    return Array.isArray(found) ? listClaims.includes(pointer) && found.includes(value) : found === value;
  });
