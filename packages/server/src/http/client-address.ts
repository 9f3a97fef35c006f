/** Who the client is and whether it came by https: forwarding headers count only when a trusted proxy sent them. */
import type { IncomingMessage } from 'node:http';
import { isWithin } from '../throttle/address.ts';

/**
 * Walks X-Forwarded-For from the right, where our own proxy wrote, to the first hop that no trusted proxy speaks for.
 * @param trustedProxies networks, such as `10.0.0.0/8`
 */
export function clientAddress(request: IncomingMessage, trustedProxies: readonly string[]): string {
  const isTrusted = (address: string): boolean => trustedProxies.some((cidr) => isWithin(address, cidr));
  let address = request.socket.remoteAddress ?? 'unknown';
  const hops = headerText(request.headers['x-forwarded-for']).split(',');
  for (const hop of hops.toReversed()) {
    if (hop.trim() === '' || !isTrusted(address)) break;
    address = withoutPort(hop.trim());
  }
  return address;
}

/** Whether a trusted proxy says that the client came over plain HTTP. */
export function cameByPlainHttp(request: IncomingMessage, trustedProxies: readonly string[]): boolean {
  const peer = request.socket.remoteAddress ?? 'unknown';
  if (!trustedProxies.some((cidr) => isWithin(peer, cidr))) return false;
  return headerText(request.headers['x-forwarded-proto']).trim().toLowerCase() === 'http';
}

const headerText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '');

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
