/**
 * Where webhooks may go: to public addresses, by https on its own port, and to what the operator has named. Whoever sets
 * up an endpoint must not be able to make the service talk to what only the service can reach (ASVS
 * 5.0 1.3.6).
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isWithin } from '../../foundation/ip-address.ts';

/** What the operator lets webhooks reach although it is internal, also over plain http and on other ports. */
export type WebhookTarget =
  | { readonly kind: 'network'; readonly cidr: string }
  | { readonly kind: 'host'; readonly host: string; readonly port: number };

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The target isn't one that webhooks may reach. */
export class RefusedTarget extends Error {}

/** As the machine resolves names everywhere else, so that a name means one thing. */
const resolveBySystem: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

export class AddressGuard {
  readonly #targets: readonly WebhookTarget[];
  readonly #resolve: Resolve;

  constructor(targets: readonly WebhookTarget[], resolve: Resolve = resolveBySystem) {
    this.#targets = targets;
    this.#resolve = resolve;
  }

  /**
   * Resolves the name of a URL, once. Nothing but what this returns may be connected to: asked again, the name might
   * have another answer.
   * @throws RefusedTarget when a single one of its addresses is none that webhooks may reach; what resolving throws
   */
  async vet(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    if (addresses.length === 0) throw new RefusedTarget('the name has no address');
    if (!this.#isNamed(url) && !addresses.every((address) => this.#mayReach(url, address)))
      throw new RefusedTarget('it leads to an address that webhooks may not reach');
    return addresses;
  }

  /** What can be said without resolving a name. @throws RefusedTarget */
  assertPossible(url: URL): void {
    const host = hostOf(url);
    const mayLieInNetwork = isIP(host) === 0 && this.#targets.some(({ kind }) => kind === 'network');
    if (this.#isNamed(url) || mayLieInNetwork) return;
    if (isIP(host) !== 0 && this.#isInNamedNetwork(host)) return;
    if (url.protocol !== 'https:') throw new RefusedTarget('it must be https');
    if (url.port !== '') throw new RefusedTarget('its port must be 443');
    if (isIP(host) !== 0 && !isPublicAddress(host))
      throw new RefusedTarget('it leads to an address that webhooks may not reach');
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

/** Without the brackets of an IPv6 address. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

/** Of the platform of Microsoft's cloud: in no registry, and reachable from within only. */
const platformAddress = '168.63.129.16';
/** All that IANA has given out for use on the internet; the rest of IPv6 is special, embeds IPv4, or is nobody's. */
const global6 = ipaddr.parseCIDR('2000::/3');

/**
 * Whether it is an ordinary address of the internet: in none of the ranges of the IANA special-purpose registries (RFC
 * 6890), and of no form that carries an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (isIP(address) === 0 || address.includes('%') || address === platformAddress) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(global6));
}
