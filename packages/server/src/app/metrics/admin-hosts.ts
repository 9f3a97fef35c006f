/**
 * The hosts under which metrics exist. A page on another site can give its own host name the IP address of the admin listener
 * (DNS rebinding): the browser then permits it to read the responses, but sends that name in `Host`.
 */
import { isIpAddress, isLoopback } from '../../foundation/ip-address.ts';

export interface AdminHostOptions {
  /** The host name or IP address of the listener. */
  readonly adminHost: string;
  /** Further host names. */
  readonly adminNames: readonly string[];
  /** The name of the machine. */
  readonly machine: string;
}

export class AdminHosts {
  readonly #names: ReadonlySet<string>;
  readonly #isLocal: boolean;

  constructor({ adminHost, adminNames, machine }: AdminHostOptions) {
    this.#names = new Set([adminHost, machine, ...adminNames].map(canonical));
    this.#isLocal = isLoopback(adminHost);
  }

  /**
   * An IP address is no name, so no page of another site has it. Other machines of a network use names that public DNS does not
   * have: without a dot, as in Compose, or of a Kubernetes service. On loopback these are not needed.
   * @param host the Host header of a request
   */
  permits(host: string | undefined): boolean {
    const [, address, text = address] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d*)?$/i.exec(host ?? '') ?? [];
    if (text === undefined) return false;
    const name = canonical(text);
    if (isIpAddress(name) || isLocalName(name) || this.#names.has(name)) return true;
    return !this.#isLocal && /^[^.]+$|\.svc(?:\.cluster\.local)?$/.test(name);
  }
}

/** RFC 6761 section 6.3: browsers resolve these names to loopback addresses only. */
const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

const canonical = (name: string): string => name.toLowerCase().replace(/\.$/, '');
