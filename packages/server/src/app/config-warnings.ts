/** Settings that are allowed and unwise: for the log of `serve` and for `doctor`. */
import type { Config } from './config.ts';

/** One sentence each, which begins with the name of the setting. */
export function warningsOf(config: Config): readonly string[] {
  const { publicUrl, trustedProxies, isThrottled, deletionJournal, mayReadWorldReadableSecrets } = config;
  const isBlind = publicUrl?.startsWith('https:') === true && trustedProxies.length === 0;
  return [
    ...(isBlind
      ? [
          'KEYREEVE_PUBLIC_URL is https, so a proxy stands in front, but KEYREEVE_TRUSTED_PROXIES does not name it: all clients share the limits of one client IP range, so one client can use up the sign-ins and requests of the others',
        ]
      : []),
    ...(isThrottled ? [] : ['KEYREEVE_THROTTLE is off: sign-ins and creations are not limited']),
    ...(deletionJournal === undefined
      ? [
          'KEYREEVE_DELETION_JOURNAL is not set: restoring an older backup, or a failover that loses the last commits, would revive deleted keys',
        ]
      : []),
    ...(mayReadWorldReadableSecrets
      ? [
          'KEYREEVE_WORLD_READABLE_SECRETS is accept: every user of this machine or container may be able to read secrets',
        ]
      : []),
  ];
}
