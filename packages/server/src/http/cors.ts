/** Cross-origin requests: refused unless the page's exact origin is listed; never with cookies. */
import type { IncomingMessage } from 'node:http';
import { oneTimePasswordHeader } from '@keyreeve/contract';
import type { Answer } from './answer.ts';

const preflightMaxAgeSeconds = 600;

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers for the answer to a request; none without a list. */
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

  /** The answer to a preflight from a listed origin; undefined for any other request. */
  preflight({ method, headers }: IncomingMessage, allowed: readonly string[]): Answer | undefined {
    const { origin, 'access-control-request-method': asked } = headers;
    if (method !== 'OPTIONS' || asked === undefined || origin === undefined || !this.#origins.has(origin))
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
