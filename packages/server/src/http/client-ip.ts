/** The client IP, and whether the client used https. Forwarding headers count only when a trusted proxy sent them. */
import type { IncomingMessage } from 'node:http';
import { isIpAddress, isWithin } from '../foundation/ip-address.ts';

/**
 * Reads X-Forwarded-For from right to left, because each proxy appends its peer on the right, up to the first client IP
 * that is not a trusted proxy.
 *
 * Only a bare IP address is accepted. An entry with a port or brackets, a host name, `unknown` or an obfuscated
 * identifier (RFC 7239 section 6) ends the walk, and the client IP is then the trusted proxy that wrote the entry: its
 * clients share one set of rate limits instead of being able to choose their own.
 * @param trustedProxies networks, such as `10.0.0.0/8`
 * @param onMalformed called with the IP address of the trusted proxy that sent such an entry
 */
export function clientIpOf(
  request: IncomingMessage,
  trustedProxies: readonly string[],
  onMalformed: (proxy: string) => void = () => undefined,
): string {
  const isTrusted = (ip: string): boolean => trustedProxies.some((cidr) => isWithin(ip, cidr));
  let ip = request.socket.remoteAddress ?? 'unknown';
  const header = headerText(request.headers['x-forwarded-for']);
  if (header === '') return ip;
  for (const entry of header.split(',').toReversed()) {
    if (!isTrusted(ip)) break;
    const hop = entry.trim();
    if (!isIpAddress(hop)) {
      onMalformed(ip);
      break;
    }
    ip = hop;
  }
  return ip;
}

/** Whether a trusted proxy reports that the client used plain HTTP. */
export function usedPlainHttp(request: IncomingMessage, trustedProxies: readonly string[]): boolean {
  const peer = request.socket.remoteAddress ?? 'unknown';
  if (!trustedProxies.some((cidr) => isWithin(peer, cidr))) return false;
  return headerText(request.headers['x-forwarded-proto']).trim().toLowerCase() === 'http';
}

const headerText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '');
