/** The client IP, and whether the client used https. Forwarding headers count only when a trusted proxy sent them. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isIpAddress, isLoopback, parseRanges, type IpRanges } from '../foundation/ip-address.ts';

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
  request: ProxiedRequest,
  trustedProxies: readonly string[],
  onMalformed: (proxy: string) => void = () => undefined,
): string {
  const { ip, malformedOf } = lastHop(request, trustedProxies);
  if (malformedOf !== undefined) onMalformed(malformedOf);
  return ip;
}

/**
 * {@link clientIpOf} for a key that is limited to IP ranges.
 * @returns undefined with an entry that is not an IP address, or from a trusted proxy that sends no X-Forwarded-For, because
 *   the proxy is not the client; and after the connection has closed. The IP address of loopback counts without the header,
 *   so that services on this host can call directly
 */
export function certainIpOf(
  request: ProxiedRequest,
  trustedProxies: readonly string[],
  onMalformed: (proxy: string) => void,
): string | undefined {
  const { ip, hops, malformedOf } = lastHop(request, trustedProxies);
  if (malformedOf !== undefined) onMalformed(malformedOf);
  if (malformedOf !== undefined || ip === unknownIp) return undefined;
  const isProxy = hops === 0 && rangesOf(trustedProxies)(ip) && !isLoopback(ip);
  return isProxy ? undefined : ip;
}

/**
 * The client IP of the original request, when a proxy sends a request to verify it: only an IP address that trusted proxies
 * report, never that of the connection, which belongs to a proxy.
 * @returns undefined without a trusted proxy, without X-Forwarded-For, or with an entry that is not a bare IP address
 */
export function forwardedIpOf(request: ProxiedRequest, trustedProxies: readonly string[]): string | undefined {
  if (trustedProxies.length === 0) return undefined;
  const { ip, hops, malformedOf } = lastHop(request, trustedProxies);
  return hops > 0 && malformedOf === undefined ? ip : undefined;
}

/** Whether a trusted proxy sent the request. */
export const isFromProxy = ({ socket }: ProxiedRequest, trustedProxies: readonly string[]): boolean =>
  trustedProxies.length > 0 && rangesOf(trustedProxies)(socket.remoteAddress ?? unknownIp);

/** The part of a request from which the client IP is read. */
export interface ProxiedRequest {
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

interface LastHop {
  readonly ip: string;
  /** The number of entries that trusted proxies have reported. */
  readonly hops: number;
  /** The IP address of the trusted proxy whose entry is not an IP address. */
  readonly malformedOf: string | undefined;
}

function lastHop({ rawHeaders, socket }: ProxiedRequest, trustedProxies: readonly string[]): LastHop {
  const isTrusted = rangesOf(trustedProxies);
  let ip = socket.remoteAddress ?? unknownIp;
  let hops = 0;
  for (const entry of forwardedFor(rawHeaders).toReversed()) {
    if (!isTrusted(ip)) break;
    const hop = entry.trim();
    if (!isIpAddress(hop)) return { ip, hops, malformedOf: ip };
    ip = hop;
    hops++;
  }
  return { ip, hops, malformedOf: undefined };
}

/** Parses each list once. */
function rangesOf(trustedProxies: readonly string[]): IpRanges {
  let ranges = parsed.get(trustedProxies);
  if (!ranges) parsed.set(trustedProxies, (ranges = parseRanges(trustedProxies)));
  return ranges;
}

const parsed = new WeakMap<readonly string[], IpRanges>();

/** The entries of all X-Forwarded-For lines. */
function forwardedFor(rawHeaders: readonly string[]): string[] {
  const lines: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === forwardedForName.length && name.toLowerCase() === forwardedForName)
      lines.push(rawHeaders[i + 1] ?? '');
  }
  const text = lines.join(',');
  return text === '' ? [] : text.split(',');
}

const forwardedForName = 'x-forwarded-for';

/** The IP address of a closed socket. No network contains it. */
const unknownIp = 'unknown';

/** Whether a trusted proxy reports that the client used plain HTTP. */
export function usedPlainHttp(request: IncomingMessage, trustedProxies: readonly string[]): boolean {
  const peer = request.socket.remoteAddress ?? unknownIp;
  if (!rangesOf(trustedProxies)(peer)) return false;
  return headerText(request.headers['x-forwarded-proto']).trim().toLowerCase() === 'http';
}

const headerText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(',') : (value ?? '');
