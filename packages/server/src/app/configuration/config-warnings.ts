/** Warnings about settings that are valid but risky. `serve` logs them and `doctor` prints them. */
import { isIpAddress, isLoopback } from '../../foundation/ip-address.ts';
import type { Config } from './config.ts';
import { mailWarnings } from './mail-config.ts';

/** @returns sentences that begin with the name of the setting */
export function warningsOf(config: Config): readonly string[] {
  const { publicUrl, trustedProxies, isRateLimited, deletionJournal, mayReadWorldReadableSecrets } = config;
  const isProxyMissing = publicUrl?.startsWith('https:') === true && trustedProxies.length === 0;
  return [
    ...(isProxyMissing
      ? [
          'KEYREEVE_PUBLIC_URL is https, which needs a proxy, but KEYREEVE_TRUSTED_PROXIES does not contain it: the IP address of the proxy counts as the client IP, so all clients share the rate limits of one range',
        ]
      : []),
    ...(isRateLimited ? [] : ['KEYREEVE_THROTTLE is off: sign-ins and key creations have no rate limits']),
    ...(deletionJournal === undefined
      ? [
          'KEYREEVE_DELETION_JOURNAL is not set: after restoring an older backup, or after a failover that loses the last commits, deleted keys work again',
        ]
      : []),
    ...(mayReadWorldReadableSecrets
      ? [
          'KEYREEVE_WORLD_READABLE_SECRETS is accept: every user of this machine or container may be able to read secrets',
        ]
      : []),
    ...mailWarnings(config),
    ...consoleWarnings(config),
  ];
}

function consoleWarnings({ hasConsole, consoleUrl, publicUrl, trustedProxies }: Config): readonly string[] {
  if (consoleUrl === undefined)
    return hasConsole && publicUrl?.startsWith('http:') && !isLocal(new URL(publicUrl))
      ? [
          'KEYREEVE_PUBLIC_URL is http, and KEYREEVE_CONSOLE_URL is not set: the network between the browser and Keyreeve can read passwords and session cookies of the console',
        ]
      : [];
  if (!hasConsole) return ['KEYREEVE_CONSOLE_URL is set, but KEYREEVE_CONSOLE is off: it has no effect'];
  const url = new URL(consoleUrl);
  const { protocol } = url;
  const isHttps = protocol === 'https:';
  return [
    ...(!isHttps && !isLocal(url)
      ? [
          `KEYREEVE_CONSOLE_URL is http${publicUrl?.startsWith('https:') ? ', but KEYREEVE_PUBLIC_URL is https' : ''}: the network between the browser and Keyreeve can read passwords and session cookies`,
        ]
      : []),
    ...(isIpAddress(hostOf(url))
      ? ['KEYREEVE_CONSOLE_URL has an IP address: browsers accept passkeys for host names only, such as localhost']
      : []),
    ...(isHttps && !publicUrl?.startsWith('https:') && trustedProxies.length === 0
      ? [
          'KEYREEVE_CONSOLE_URL is https, which needs a proxy, but KEYREEVE_TRUSTED_PROXIES does not contain it: the IP address of the proxy counts as the client IP, so all clients share the rate limits of one range',
        ]
      : []),
  ];
}

/** An IPv6 address is without its brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replaceAll(/[[\]]/g, '');
const isLocal = (url: URL): boolean => isLoopback(hostOf(url)) || hostOf(url).endsWith('.localhost');
