/** IP addresses and ranges in canonical form. Limits count an IPv4 address, or the network of an IPv6 address. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * @param ip from the socket or from a trusted proxy; IPv4-mapped IPv6 counts as IPv4
 * @param bits of an IPv6 address: 64 for one link, 48 for the network of one customer
 * @returns the range in CIDR notation, or `unknown` if the text is not an IP address
 */
export function ipRange(ip: string, bits: 64 | 48 = 64): string {
  const parsed = parseIp(ip);
  if (!parsed) return 'unknown';
  if (parsed.kind() === 'ipv4') return `${parsed.toString()}/32`;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${bits}`);
  return `${network.toNormalizedString()}/${bits}`;
}

/**
 * The range that is stored instead of a client IP: 256 addresses, or the network of one IPv6 customer.
 * @returns CIDR notation (RFC 5952); null if the text is not an IP address
 */
export function coarseRange(ip: string): string | null {
  const parsed = parseIp(ip);
  if (!parsed) return null;
  const isIpv4 = parsed.kind() === 'ipv4';
  const bits = isIpv4 ? 24 : 48;
  const network = (isIpv4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${parsed.toString()}/${bits}`);
  return `${network.toString()}/${bits}`;
}

/** Whether a text is exactly an IP address, without port, brackets or zone id. */
export const isIpAddress = (text: string): boolean =>
  isIP(text) !== 0 && !text.includes('%') && parseIp(text) !== undefined;

/** Whether an IP address is in a network such as `10.0.0.0/8`. */
export function isWithin(ip: string, cidr: string): boolean {
  const parsed = parseIp(ip);
  if (!parsed) return false;
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}

/** Whether an IP address is in one of several ranges. */
export type IpRanges = (ip: string) => boolean;

/** @param cidrs such as `10.0.0.0/8` */
export function parseRanges(cidrs: readonly string[]): IpRanges {
  const networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (ip) => {
    const parsed = parseIp(ip);
    return (
      parsed !== undefined &&
      networks.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits))
    );
  };
}

/** `10.0.0.1` means `10.0.0.1/32`. @returns undefined if the text is neither an IP address nor a network */
export function toCidr(text: string): string | undefined {
  const [ip = '', bits] = text.split('/');
  if (!isInFullForm(ip) || ip.includes('%')) return undefined;
  if (bits !== undefined) return ipaddr.isValidCIDR(text) ? text : undefined;
  return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`;
}

/**
 * The canonical form of an IP address or range: IPv4-mapped IPv6 becomes IPv4, IPv6 is written as in RFC 5952, and an address
 * becomes a range with one address.
 * @returns the range, or the reason why the text is not accepted, which names the canonical form (`meant`) if there is one
 */
export function canonicalCidr(
  text: string,
): { readonly cidr: string } | { readonly problem: string; readonly meant?: string } {
  const [ip = '', bitsText, ...more] = text.split('/');
  const notRange = { problem: 'Expected an IP address or a range in CIDR notation, such as 203.0.113.0/24.' };
  if (more.length > 0 || ip.includes('%') || !isInFullForm(ip)) return notRange;
  if (bitsText !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(bitsText)) return notRange;
  const given = ipaddr.parse(ip);
  const isMapped = given.kind() === 'ipv6' && (given as ipaddr.IPv6).isIPv4MappedAddress();
  const address = ipaddr.process(ip);
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const bits = bitsText === undefined ? width : Number(bitsText) - (isMapped ? 96 : 0);
  if (bits < 0 || bits > width) return notRange;
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = kind.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString();
  const cidr = `${network}/${bits}`;
  return network === address.toString()
    ? { cidr }
    : { problem: `The range has host bits; did you mean ${cidr}?`, meant: cidr };
}

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string): boolean => host === 'localhost' || parseIp(host)?.range() === 'loopback';

const privateRanges = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'loopback'];

/** Whether an IP address belongs to a private network (RFC 1918, RFC 4193, RFC 6598), a link or this machine. */
export const isPrivateAddress = (ip: string): boolean => privateRanges.includes(parseIp(ip)?.range() ?? 'unknown');

function parseIp(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone id (fe80::1%eth0) names an interface of this machine, not the peer.
  const [ip = ''] = text.split('%');
  return isInFullForm(ip) ? ipaddr.process(ip) : undefined;
}

/** Excludes the short, octal and hexadecimal forms of old C libraries, such as `10` and `010.0.0.1`: they are ambiguous. */
const isInFullForm = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
