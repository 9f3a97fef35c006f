/** Errors of the exchange of assertions, identity tokens and secrets of API keys (RFC 6749 section 5.2). Part of the registry in ../errors.ts. */
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
      'The API key is unknown, disabled, expired or limited to other IP ranges; the id belongs to another key; the key has a public key, a trust, or a scope that begins with `keyreeve:`; or the secret is a short-lived one. Or no program has this id, or it has been removed. The log of the server contains the cause.',
    fix: 'Compare the client id with the `id` of the key, and the client secret with its newest secret. Send both as Basic or in the body, not in both.',
  },
  invalid_grant: {
    status: 400,
    title: 'The assertion or identity token is not accepted',
    meaning:
      'The assertion or identity token is malformed, expired, used before, not signed by a public key of its API key or issuer, not addressed to this server, or does not match the trust of the API key, or the API key is not valid for this client. The response is the same for each cause.',
    cause:
      'The assertion was rejected, for example because of a wrong clock, `aud` or `kid`, or because it was used before. Or the API key is unknown, disabled, expired or limited to other IP ranges, or the claims of the identity token are not those of its trust. The log of the server contains the cause; the page of a key with a trust shows the claims of the last tokens that did not match. Or the device code, or the token that a program revokes, is not of this program.',
    fix: 'Make a new assertion for each request, with the time and a random `jti`. Compare `aud` with the `issuer` of /.well-known/oauth-authorization-server, and `kid`, `iss` and `sub` with the id of the key. For an identity token, read `GET /auth/api-keys/{id}/tokens` and compare its claims with the trust.',
  },
  unsupported_grant_type: {
    status: 400,
    title: 'The grant type is not supported',
    meaning:
      'The values of `grant_type` are `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523), `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693) and `client_credentials` (RFC 6749).',
    cause: 'The value of `grant_type` is another one.',
    fix: 'Send one of these values. For tokens of an account, call `POST /auth/token`.',
  },
  invalid_scope: {
    status: 400,
    title: 'The parameter scope is not supported',
    meaning: 'A short-lived secret has the scopes of its API key. Send no parameter `scope`.',
    cause: 'The form has a parameter `scope`.',
    fix: 'Remove it. The short-lived secret has the scopes of its API key.',
  },
  invalid_target: {
    status: 400,
    title: 'The parameters resource and audience are not supported',
    meaning:
      'A short-lived secret is for every service that verifies credentials here. Send neither `resource` nor `audience`. The audience of the identity token is its claim `aud`.',
    cause: 'The form has a parameter `resource` or `audience`.',
    fix: 'Remove it.',
  },
  too_many_exchanges: {
    status: 429,
    title: 'Too many exchanges',
    meaning: `An API key exchanges at most ${limits.exchangesPerMinuteMax} assertions in a minute. A key without a public key exchanges at most ${limits.trustExchangesPerMinuteMax} credentials in a minute, and has at most ${limits.trustLiveSecretsMax} valid short-lived secrets. Use a short-lived secret for all requests until it expires, and wait for the seconds in Retry-After.`,
    cause: 'The key exchanged more than these, for example because a client exchanges one for each request.',
    fix: `${waitAndRetry} Use each short-lived secret until shortly before it expires.`,
  },
} as const satisfies Record<string, ErrorDefinition>;
