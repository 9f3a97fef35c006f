/** User-Agent (RFC 9110 section 10.1.5) of all requests. Common firewalls block requests without it. */

const product = 'keyreeve-js';

/**
 * None in a browser, which sends its own: with this one, a request to another origin would need the permission of that origin
 * for the header.
 */
export const userAgent = (agent = ofRuntime()): Readonly<Record<string, string>> =>
  agent?.startsWith('Mozilla/') === true ? {} : { 'User-Agent': product };

/** Not every runtime has `navigator`. */
const ofRuntime = (): string | undefined =>
  (globalThis as { readonly navigator?: { readonly userAgent?: string } }).navigator?.userAgent;
