/**
 * The security headers of every answer, in one table (OWASP REST Security Cheat Sheet). They are made
 * once: the hot path writes them as they are.
 */

export type HeaderPairs = readonly string[];

/** API answers are data: nothing in them may be rendered or run. */
const dataPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

export class SecurityHeaders {
  /** Names and values in turn, as `ServerResponse.writeHead` takes them. */
  readonly data: HeaderPairs;
  readonly #always: HeaderPairs;

  /** @param isHttps whether the public address is https: only then may browsers be told to insist on it (RFC 6797) */
  constructor(isHttps: boolean) {
    this.#always = [
      'X-Content-Type-Options',
      'nosniff',
      'Referrer-Policy',
      'no-referrer',
      'Cross-Origin-Opener-Policy',
      'same-origin',
      'Cross-Origin-Resource-Policy',
      'same-origin',
      ...(isHttps ? ['Strict-Transport-Security', 'max-age=63072000; includeSubDomains'] : []),
    ];
    this.data = this.with({});
  }

  /** For the few answers that may be cached or shown. */
  with({ cacheControl, policy }: { cacheControl?: string; policy?: string }): HeaderPairs {
    return [
      'Cache-Control',
      cacheControl ?? 'no-store',
      'Content-Security-Policy',
      policy ?? dataPolicy,
      ...this.#always,
    ];
  }
}
