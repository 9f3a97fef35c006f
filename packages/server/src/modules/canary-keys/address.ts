/** The IP address of canary keys and of the credentials that create them: only instances of the installation can compute it. */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { parseAddresses } from '../api-keys/addresses.ts';

export interface CanaryAddress {
  /** From which requests with a credential are verified. */
  readonly address: string;
  /** The same as stored in keys. */
  readonly range: string;
}

/**
 * An address of the discard-only prefix 100::/64 (RFC 6666), from which no packet comes. Its last 64 bits are a MAC, so a client
 * behind a proxy that trusts the X-Forwarded-For of its clients cannot send it.
 * @param hash of API keys
 */
export function canaryAddressOf(hash: KeyedHash): CanaryAddress {
  const bits = hash.mac('IP address of canary keys').toString('hex').slice(0, 16);
  const address = `100::${(bits.match(/.{4}/g) ?? []).join(':')}`;
  return { address, range: parseAddresses([address]) };
}
