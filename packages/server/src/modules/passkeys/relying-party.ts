/**
 * The relying party of WebAuthn: the rp id that passkeys are created for, and the origins of the pages that may use them
 * (WebAuthn Level 3, section 5.1.3).
 */
import { isIP } from 'node:net';
import { DomainError } from '../../foundation/errors.ts';

export interface RelyingParty {
  /** A host name. Browsers offer a passkey only on pages of this host and of its subdomains. */
  readonly id: string;
  /** Shown by the browser. */
  readonly name: string;
  /** Pages of other origins are rejected. */
  readonly origins: readonly string[];
}

export interface RelyingPartyOptions {
  /** Undefined: the host of the first origin. */
  readonly rpId: string | undefined;
  readonly name: string;
  /** The console's origin, and the public URL's. */
  readonly origins: readonly [string, ...string[]];
}

/**
 * @returns undefined if browsers have no passkeys for the first origin: its host is an IP address or not within the rp id,
 *   or it uses http on a host other than localhost
 */
export function relyingPartyOf({ rpId, name, origins }: RelyingPartyOptions): RelyingParty | undefined {
  const id = rpId ?? new URL(origins[0]).hostname;
  const usable = [...new Set(origins)].filter((origin) => isUsable(origin, id));
  return usable.includes(origins[0]) ? { id, name, origins: usable } : undefined;
}

/** @throws DomainError `passkeys_unavailable` */
export function requireRelyingParty({
  relyingParty,
}: {
  readonly relyingParty: RelyingParty | undefined;
}): RelyingParty {
  if (!relyingParty) throw new DomainError('passkeys_unavailable');
  return relyingParty;
}

/** Whether a page of the origin can use passkeys with this rp id. */
export function isUsable(origin: string, rpId: string): boolean {
  const { protocol, hostname } = new URL(origin);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0) return false;
  return (protocol === 'https:' || isLocal) && (hostname === rpId || hostname.endsWith(`.${rpId}`));
}
