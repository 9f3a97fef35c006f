/** URLs of services in options. Every request to one contains a credential. */
import { isLoopback } from '../foundation/ip-address.ts';
import { UsageError } from './failure.ts';

/**
 * @param remedy what to do about plain HTTP, which is allowed to loopback only; undefined allows it to any host
 * @throws UsageError also for a URL with a user, a query or a fragment, without repeating it, because it can have a password
 */
export function assertServiceUrl(url: string, remedy: string | undefined): void {
  const parsed = URL.parse(url);
  const isBase = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === '';
  if (!isBase || parsed.username !== '' || parsed.password !== '')
    throw new UsageError('--url must be like https://a.example.com, without user, query and fragment');
  const host = parsed.hostname.replaceAll(/^\[|\]$/g, '');
  if (parsed.protocol === 'https:' || isLoopback(host) || remedy === undefined) return;
  throw new UsageError(`--url ${url} is plain HTTP, so the network would see the credential; ${remedy}`);
}

export const withoutFinalSlashes = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
