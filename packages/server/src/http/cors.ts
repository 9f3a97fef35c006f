/** Cross-origin requests: allowed only for origins on the configured list, and without cookies. */
import type { IncomingMessage } from 'node:http';
import { oneTimePasswordHeader } from '@keyreeve/contract';
import type { RouteResponse } from './response.ts';

const preflightMaxAgeSeconds = 600;

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers of the response to a request; none if the list is empty. */
  headers({ headers }: IncomingMessage): readonly string[] {
    if (this.#origins.size === 0) return [];
    const { origin } = headers;
    if (origin === undefined || !this.#origins.has(origin)) return ['Vary', 'Origin'];
    return [
      'Vary',
      'Origin',
      'Access-Control-Allow-Origin',
      origin,
      'Access-Control-Expose-Headers',
      'Location, Retry-After, RateLimit, RateLimit-Policy',
    ];
  }

  /** @returns the response to a preflight from a listed origin; undefined for another request */
  preflight({ method, headers }: IncomingMessage, allowed: readonly string[]): RouteResponse | undefined {
    const { origin, 'access-control-request-method': requested } = headers;
    if (method !== 'OPTIONS' || requested === undefined || origin === undefined || !this.#origins.has(origin))
      return undefined;
    return {
      status: 204,
      headers: [
        'Access-Control-Allow-Methods',
        allowed.join(', '),
        'Access-Control-Allow-Headers',
        `Authorization, Content-Type, X-API-Key, ${oneTimePasswordHeader}`,
        'Access-Control-Max-Age',
        String(preflightMaxAgeSeconds),
      ],
    };
  }
}
