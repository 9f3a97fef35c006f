/** The security headers of responses (OWASP REST Security Cheat Sheet). They are computed once, for the hot path. */

export type HeaderPairs = readonly string[];

/** For responses with data: a browser must not render or run anything in them. */
const dataPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

export class SecurityHeaders {
  /** Alternating names and values, for `ServerResponse.writeHead`. */
  readonly data: HeaderPairs;
  readonly #always: HeaderPairs;

  /** @param isHttps whether the public URL is https: only then HSTS may be sent (RFC 6797 section 7.2) */
  constructor(isHttps: boolean) {
    this.#always = [
      'X-Content-Type-Options',
      'nosniff',
      'Referrer-Policy',
      'no-referrer',
      'Cross-Origin-Opener-Policy',
      'same-origin',
      ...(isHttps ? ['Strict-Transport-Security', 'max-age=63072000; includeSubDomains'] : []),
    ];
    this.data = this.with({});
  }

  /** For responses that may be cached, and for pages. */
  with({ cacheControl, policy, resourcePolicy = 'same-origin' }: CachedOrPage): HeaderPairs {
    return [
      'Cache-Control',
      cacheControl ?? 'no-store',
      'Content-Security-Policy',
      policy ?? dataPolicy,
      ...this.#always,
      'Cross-Origin-Resource-Policy',
      resourcePolicy,
    ];
  }
}

interface CachedOrPage {
  readonly cacheControl?: string;
  readonly policy?: string;
  /** `cross-origin`: pages of other origins may load it. */
  readonly resourcePolicy?: 'same-origin' | 'cross-origin';
}

/** @param publicUrl undefined for a service without one, which clients reach over plain HTTP */
export const securityOf = (publicUrl: string | undefined): SecurityHeaders =>
  new SecurityHeaders(publicUrl?.startsWith('https:') ?? false);

/** @param pairs alternating names and values */
export const linesOf = (pairs: HeaderPairs): string =>
  pairs.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
