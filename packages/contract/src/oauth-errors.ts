/** Errors of the exchange of an assertion (RFC 6749 section 5.2). Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';
import { limits } from './limits.ts';

export const oauthErrors = {
  invalid_grant: {
    status: 400,
    title: 'The assertion is not accepted',
    meaning:
      'The assertion is malformed, expired, used before, not signed by a public key of its API key or not addressed to this server, or the API key is not valid for this client. The response is the same for each cause.',
  },
  unsupported_grant_type: {
    status: 400,
    title: 'The grant type is not supported',
    meaning: 'The only value of `grant_type` is `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523).',
  },
  invalid_scope: {
    status: 400,
    title: 'The parameter scope is not supported',
    meaning: 'A short-lived secret has the scopes of its API key. Send no parameter `scope`.',
  },
  too_many_exchanges: {
    status: 429,
    title: 'Too many exchanges',
    meaning: `An API key exchanges at most ${limits.exchangesPerMinuteMax} assertions in a minute. Use a short-lived secret for all requests until it expires, and wait for the seconds in Retry-After.`,
  },
} as const satisfies Record<string, ErrorDefinition>;
