/**
 * Decides which targets of a caller's choice the service may reach: public IP addresses over https on port 443, and the targets
 * that the operator allows (KEYREEVE_WEBHOOK_TARGETS, KEYREEVE_ISSUER_TARGETS). Otherwise the owner of a webhook endpoint or of
 * an issuer could make the service send requests to internal systems (ASVS 5.0 1.3.6).
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isWithin } from '../ip-address.ts';

/** An internal target that the operator allows, also over plain http and on other ports. */
export type AllowedTarget =
  | { readonly kind: 'network'; readonly cidr: string }
  | { readonly kind: 'host'; readonly host: string; readonly port: number };

/** @returns all IP addresses of a name */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The service may not reach the target. */
export class RefusedTarget extends Error {}

/** Uses the resolver of the operating system, so a name means the same as in other programs. */
const resolveBySystem: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

export class AddressGuard {
  readonly #targets: readonly AllowedTarget[];
  readonly #resolve: Resolve;

  constructor(targets: readonly AllowedTarget[], resolve: Resolve = resolveBySystem) {
    this.#targets = targets;
    this.#resolve = resolve;
  }

  /**
   * Resolves the name of a URL once. The caller may connect only to the returned IP addresses, because a second lookup
   * could return others.
   * @throws RefusedTarget if the service may not reach one of the IP addresses; what the resolver throws
   */
  async resolveAllowed(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    if (addresses.length === 0) throw new RefusedTarget('the name has no address');
    if (!this.#isNamed(url) && !addresses.every((address) => this.#mayReach(url, address)))
      throw new RefusedTarget('it leads to an internal address');
    return addresses;
  }

  /** Checks what needs no name resolution. @throws RefusedTarget */
  assertPossible(url: URL): void {
    const host = hostOf(url);
    const mayLieInNetwork = isIP(host) === 0 && this.#targets.some(({ kind }) => kind === 'network');
    if (this.#isNamed(url) || mayLieInNetwork) return;
    if (isIP(host) !== 0 && this.#isInNamedNetwork(host)) return;
    if (url.protocol !== 'https:') throw new RefusedTarget('it must be https');
    if (url.port !== '') throw new RefusedTarget('its port must be 443');
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw new RefusedTarget('it leads to an internal address');
  }

  #isNamed(url: URL): boolean {
    const [host, port] = [hostOf(url), portOf(url)];
    return this.#targets.some((target) => target.kind === 'host' && target.host === host && target.port === port);
  }

  #mayReach(url: URL, address: string): boolean {
    if (this.#isInNamedNetwork(address)) return true;
    return url.protocol === 'https:' && url.port === '' && isPublicAddress(address);
  }

  #isInNamedNetwork(address: string): boolean {
    return this.#targets.some((target) => target.kind === 'network' && isWithin(address, target.cidr));
  }
}

/** @returns the host without the brackets of an IPv6 address */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

/** The platform address of Microsoft Azure: public by its number, but reachable only from within the cloud. */
const platformAddress = '168.63.129.16';
/**
 * Global unicast addresses that IANA has allocated. Other IPv6 addresses are special, embed IPv4 or are unallocated.
 */
const global6 = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an IP address is public: outside the IANA special-purpose registries (RFC 6890), and not a form that embeds
 * an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this host.
  if (isIP(address) === 0 || address.includes('%') || address === platformAddress) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(global6));
}
