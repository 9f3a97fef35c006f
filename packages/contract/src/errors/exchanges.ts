/** Errors of the exchange of an assertion (RFC 6749 section 5.2). Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

export const exchangeErrors = {
  invalid_client: {
    status: 401,
    title: 'The client is not authenticated',
    meaning:
      'Send the id and the secret of an API key as client id and client secret. The key must be valid for this client, without a public key, a trust, and scopes that begin with `keyreeve:`. The response is the same for each cause.',
    cause:
      'The API key is unknown, disabled, expired or limited to other IP ranges; the id belongs to another key; the key has a public key, a trust, or a scope that begins with `keyreeve:`; or the secret is a short-lived one. The log of the server contains the cause.',
    fix: 'Compare the client id with the `id` of the key, and the client secret with its newest secret. Send both as Basic or in the body, not in both.',
  },
  invalid_grant: {
    status: 400,
    title: 'The assertion is not accepted',
    meaning:
      'The assertion is malformed, expired, used before, not signed by a public key of its API key or not addressed to this server, or the API key is not valid for this client. The response is the same for each cause.',
    cause:
      'The assertion was rejected, for example because of a wrong clock, `aud` or `kid`, or because it was used before. Or the API key is unknown, disabled, expired or limited to other IP ranges. The log of the server contains the cause.',
    fix: 'Make a new assertion for each request, with the time and a random `jti`. Compare `aud` with the `issuer` of /.well-known/oauth-authorization-server, and `kid`, `iss` and `sub` with the id of the key.',
  },
  unsupported_grant_type: {
    status: 400,
    title: 'The grant type is not supported',
    meaning: 'The only value of `grant_type` is `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523).',
    cause: 'The value of `grant_type` is not `urn:ietf:params:oauth:grant-type:jwt-bearer`.',
    fix: 'Send this value. For tokens of an account, call `POST /auth/token`.',
  },
  invalid_scope: {
    status: 400,
    title: 'The parameter scope is not supported',
    meaning: 'A short-lived secret has the scopes of its API key. Send no parameter `scope`.',
    cause: 'The form has a parameter `scope`.',
    fix: 'Remove it. The short-lived secret has the scopes of its API key.',
  },
  too_many_exchanges: {
    status: 429,
    title: 'Too many exchanges',
    meaning: `An API key exchanges at most ${limits.exchangesPerMinuteMax} assertions in a minute. Use a short-lived secret for all requests until it expires, and wait for the seconds in Retry-After.`,
    cause: `The key exchanged more than ${limits.exchangesPerMinuteMax} assertions in a minute, for example because a client exchanges one for each request.`,
    fix: `${waitAndRetry} Use each short-lived secret until shortly before it expires.`,
  },
} as const satisfies Record<string, ErrorDefinition>;
