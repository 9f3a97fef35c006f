/**
 * The response header fields about limits (draft-ietf-httpapi-ratelimit-headers-11). The names of policies are constants of the
 * program, so no value contains text of a request.
 */
import type { RateLimitState } from '../foundation/errors.ts';

/** @returns names and values, alternating */
export const rateLimitFields = (states: readonly RateLimitState[]): string[] => [
  'RateLimit-Policy',
  states.map(({ policy, quota, windowSeconds }) => `"${policy}";q=${quota}${parameter('w', windowSeconds)}`).join(', '),
  ...rateLimitField(states),
];

/** What is left: `r` is the remaining quota, `t` the seconds until all of it is available. */
export const rateLimitField = (states: readonly RateLimitState[]): string[] => [
  'RateLimit',
  states
    .map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining}${parameter('t', resetSeconds)}`)
    .join(', '),
];

const parameter = (name: string, seconds: number): string => (Number.isFinite(seconds) ? `;${name}=${seconds}` : '');
