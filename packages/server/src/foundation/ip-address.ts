/** What counts as "the same address": an IPv4 address, or the network of an IPv6 one, in one canonical text. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * @param address as the socket or a trusted proxy gave it; IPv4-mapped IPv6 is IPv4
 * @param bits of an IPv6 address: 64 is one link, 48 what a single customer may have
 */
export function ipRange(address: string, bits: 64 | 48 = 64): string {
  const parsed = parseAddress(address);
  if (!parsed) return 'unknown';
  if (parsed.kind() === 'ipv4') return `${parsed.toString()}/32`;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${bits}`);
  return `${network.toNormalizedString()}/${bits}`;
}

/** Whether a text is an IP address and nothing else: no port, no brackets, no zone id, no host name. */
export const isIpAddress = (text: string): boolean =>
  isIP(text) !== 0 && !text.includes('%') && parseAddress(text) !== undefined;

/** Whether an address lies in a network such as `10.0.0.0/8`. */
export function isWithin(address: string, cidr: string): boolean {
  const parsed = parseAddress(address);
  if (!parsed) return false;
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}

/** `10.0.0.1` means `10.0.0.1/32`. @returns undefined for what is neither an address nor a network */
export function toCidr(text: string): string | undefined {
  const [address = '', bits] = text.split('/');
  if (!isWrittenOut(address) || address.includes('%')) return undefined;
  if (bits !== undefined) return ipaddr.isValidCIDR(text) ? text : undefined;
  return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`;
}

/** Loopback: only this machine can reach it. */
export const isLoopback = (host: string): boolean => host === 'localhost' || parseAddress(host)?.range() === 'loopback';

function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone id (fe80::1%eth0) names an interface of this machine, not the peer.
  const [bare = ''] = address.split('%');
  return isWrittenOut(bare) ? ipaddr.process(bare) : undefined;
}

/** Without the short, octal and hexadecimal forms of old C libraries: whoever writes `10` or `010.0.0.1` means something else. */
const isWrittenOut = (address: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
