/** The client IPs of requests, also behind trusted proxies. */
import { monotonicMs } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log.ts';
import { certainIpOf, clientIpOf, type ProxiedRequest } from '../../http/client-ip.ts';

/** A proxy that sends a malformed X-Forwarded-For sends it with every request, so the warning is logged once a minute. */
const proxyWarningMs = 60_000;
const forwardedForHint =
  'the trusted proxy sent an X-Forwarded-For entry that is not an IP address, so its own address counts as the client IP; configure it to send the bare IP address, without port or brackets';

export class ClientIps {
  readonly #log: Log;
  readonly #proxies: readonly string[];
  #proxyWarnedMs = -proxyWarningMs;

  constructor({ log, trustedProxies }: { readonly log: Log; readonly trustedProxies: readonly string[] }) {
    this.#log = log;
    this.#proxies = trustedProxies;
  }

  readonly of = (request: ProxiedRequest): string => clientIpOf(request, this.#proxies, this.#warnOfProxy);

  /** The client IP of a caller whose key may be limited to IP ranges. */
  certainOf(request: ProxiedRequest): () => string | undefined {
    return () => certainIpOf(request, this.#proxies, this.#warnOfProxy);
  }

  /** The value is not logged: a header may contain anything. */
  readonly #warnOfProxy = (proxy: string): void => {
    if (monotonicMs() - this.#proxyWarnedMs < proxyWarningMs) return;
    this.#proxyWarnedMs = monotonicMs();
    this.#log.warn({ event: 'forwarded_for_malformed', proxy, detail: forwardedForHint });
  };
}
