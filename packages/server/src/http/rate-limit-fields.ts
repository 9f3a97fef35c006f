/** The response header fields about limits (draft-ietf-httpapi-ratelimit-headers). */
import type { RateLimitState } from '../foundation/errors.ts';

/** @returns names and values, alternating: `r` is the remaining quota, `t` the seconds until it is restored */
export const rateLimitFields = (states: readonly RateLimitState[]): string[] => [
  'RateLimit-Policy',
  states.map(({ policy, quota, windowSeconds }) => `"${policy}";q=${quota}${parameter('w', windowSeconds)}`).join(', '),
  'RateLimit',
  states
    .map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining}${parameter('t', resetSeconds)}`)
    .join(', '),
];

const parameter = (name: string, seconds: number): string => (Number.isFinite(seconds) ? `;${name}=${seconds}` : '');
