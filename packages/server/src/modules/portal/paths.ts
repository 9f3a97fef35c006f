/** The paths of the key page and of its requests. */

const prefixes = ['/portal/', '/auth/portal/'];

/**
 * Whether a page of this origin uses the path, and no other client. Such responses have no CORS headers of the operator’s list, and a
 * console with a host of its own does not have them.
 */
export const isPortalPath = (path: string): boolean => prefixes.some((prefix) => path.startsWith(prefix));
